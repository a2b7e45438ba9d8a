import { notify } from './notices.ts'
import { refresh } from './refresh.ts'
import type { Sent } from './send.ts'

const CHANGED =
  'This proof was changed while the page was open. Verify what is in it now, as you have read it?'

/**
 * The forms that verify are held to the content that the page stands for. Where a refresh brings another
 * one under the pointer, the form asks first; where the service has another one, the page is brought up to date.
 */
export function startVerifying(): void {
  const first = new Map<string, string | undefined>()
  const look = () => {
    for (const form of document.querySelectorAll<HTMLFormElement>('.verify-form')) {
      const { ifMatch } = form.dataset
      if (!first.has(form.id)) first.set(form.id, ifMatch)
      else if (first.get(form.id) !== ifMatch) form.dataset.confirm = CHANGED
    }
  }
  look()
  document.addEventListener('refreshed', look)
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLElement }
    if (!target.matches('.verify-form') || detail.ok || detail.status !== 412) return
    event.preventDefault()
    notify('It was changed meanwhile, and is not verified. Read what it says now.')
    void refresh()
  })
}
