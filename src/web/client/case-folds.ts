import { refresh } from './refresh.ts'

/**
 * Forms that are folded away: one that opens gets the focus, and stays as it is while it is open, so
 * that what it sends is held to what it showed.
 */
export function startFolds(): void {
  document.addEventListener(
    'toggle',
    (event) => {
      const fold = event.target
      if (!(fold instanceof HTMLDetailsElement) || !fold.matches('details.fold')) return
      const form = fold.querySelector('form')
      form?.toggleAttribute('data-keep', fold.open)
      if (fold.open) form?.querySelector<HTMLElement>(FIRST)?.focus()
      else void refresh()
    },
    true, // it does not bubble
  )
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest('[data-fold]')
    button?.closest('details')?.removeAttribute('open')
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    const fold = (event.target as Element).closest<HTMLDetailsElement>('details.fold[open]')
    if (!fold || fold.querySelector('[data-dirty]')) return
    fold.open = false
    fold.querySelector('summary')?.focus()
  })
}

const FIRST = 'input:not([type=hidden], [type=radio]:not(:checked)), textarea, select'
