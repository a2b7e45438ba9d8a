import type { Sent } from './send.ts'

/** Clears earlier notices once something has worked. */
export function startNotices(): void {
  document.addEventListener('sent', (event) => {
    if ((event as CustomEvent<Sent>).detail.ok) clearNotices()
  })
}

/** Shows a text at the lower edge of the page, which screen readers read out. */
export function notify(text: string): void {
  const container = document.getElementById('notices')
  if (!container) return
  for (const other of [...container.children]) if (other.textContent === text) other.remove()
  const notice = document.createElement('p')
  notice.textContent = text
  container.append(notice)
  setTimeout(() => notice.remove(), 8_000)
}

export function clearNotices(): void {
  document.getElementById('notices')?.replaceChildren()
}

/** Buttons with `data-copy` put that text on the clipboard; those with `data-copy-from` the text at that address. */
export function startCopying(): void {
  document.addEventListener('click', async (event) => {
    const button = (event.target as Element).closest<HTMLElement>('[data-copy], [data-copy-from]')
    if (!button) return
    const { copy, copyFrom } = button.dataset
    try {
      await navigator.clipboard.writeText(copy ?? (await textAt(copyFrom!)))
      notify('Copied.')
    } catch {
      const instead = copy === undefined ? `Open ${copyFrom} to see it.` : `The text is: ${copy}`
      notify(`The text could not be copied. ${instead}`)
    }
  })
}

async function textAt(address: string): Promise<string> {
  const response = await fetch(address, { cache: 'no-cache' })
  if (!response.ok) throw new Error(`The service answered ${response.status}.`)
  return response.text()
}
