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
    const menu = document.querySelector('details.menu[open]')
    if (menu && (button || !menu.contains(target))) menu.removeAttribute('open')
    if (button) show(document.getElementById(button.dataset.opens!))
  })
  window.addEventListener('hashchange', showTarget)
  showTarget()
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    const details = (event.target as Element).closest<HTMLDetailsElement>(
      'details:is(.disclosure, .menu, .hint-box)[open]',
    )
    if (!details || details.querySelector('[data-dirty]')) return
    details.open = false
    details.querySelector('summary')?.focus()
  })
}

/** A link from another page may lead to a form. */
function showTarget(): void {
  const target = document.getElementById(location.hash.slice(1))
  if (target?.matches('.disclosure, .panel')) show(target)
}

function show(details: HTMLElement | null): void {
  details?.setAttribute('open', '')
  details?.scrollIntoView({ block: 'nearest' })
  details?.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
}

const FIRST_FIELD = 'input:not([type=hidden], [type=radio]:not(:checked)), textarea, select'
