import { refresh } from './refresh.ts'

/**
 * Forms behind a button (`FormDisclosure`). One that opens gets the focus; while it is open a refresh leaves it alone,
 * so that it sends what it showed. Cancel and Escape close it; a button with `data-opens` opens the one with that id.
 */
export function startDisclosures(): void {
  document.addEventListener(
    'toggle',
    (event) => {
      const details = event.target
      if (!(details instanceof HTMLDetailsElement) || !details.matches('.disclosure')) return
      if (details.open) details.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
      else void refresh()
    },
    true, // it does not bubble
  )
  document.addEventListener('click', (event) => {
    const target = event.target as Element
    target.closest('button[type=reset]')?.closest('details.disclosure')?.removeAttribute('open')
    const button = target.closest<HTMLElement>('[data-opens]')
    const details = button && document.getElementById(button.dataset.opens!)
    if (!details) return
    details.setAttribute('open', '')
    details.scrollIntoView({ block: 'nearest' })
    details.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    const details = (event.target as Element).closest<HTMLDetailsElement>(
      'details.disclosure[open]',
    )
    if (!details || details.querySelector('[data-dirty]')) return
    details.open = false
    details.querySelector('summary')?.focus()
  })
}

const FIRST_FIELD = 'input:not([type=hidden], [type=radio]:not(:checked)), textarea, select'
