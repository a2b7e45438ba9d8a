import { spanText } from '../../model/amounts.ts'

/** How long it runs already: `data-since` is when it began. */
export function startClock(): void {
  show()
  document.addEventListener('refreshed', show)
  setInterval(show, 1000)
}

function show(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-since]')) {
    const ms = Date.now() - Date.parse(element.dataset.since!)
    const text = spanText(Math.max(0, Math.floor(ms / 1000) * 1000))
    if (element.textContent !== text) element.textContent = text
  }
}
