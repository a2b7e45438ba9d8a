import type { Sent } from './send.ts'

/** Clears what was said of an earlier attempt, once something has worked. */
export function startNotices(): void {
  document.addEventListener('sent', (event) => {
    if ((event as CustomEvent<Sent>).detail.ok) clearNotices()
  })
}

/** Says something at the lower edge of the page, which assistive technology reads out. */
export function notify(text: string): void {
  const place = document.getElementById('notices')
  if (!place) return
  for (const other of [...place.children]) if (other.textContent === text) other.remove()
  const notice = document.createElement('p')
  notice.textContent = text
  place.append(notice)
  setTimeout(() => notice.remove(), 8_000)
}

export function clearNotices(): void {
  document.getElementById('notices')?.replaceChildren()
}
