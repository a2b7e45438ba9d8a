import { notify } from './notices.ts'

/** Buttons with `data-copy` put that text on the clipboard. */
export function startCopying(): void {
  document.addEventListener('click', async (event) => {
    const button = (event.target as Element).closest<HTMLElement>('[data-copy]')
    if (!button) return
    try {
      await navigator.clipboard.writeText(button.dataset.copy!)
      notify('Copied.')
    } catch {
      notify(`The browser does not allow copying. The text is: ${button.dataset.copy}`)
    }
  })
}
