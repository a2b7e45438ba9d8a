import { make } from './case-elements.ts'

/**
 * A page whose subject is there no more says so until it is there again, and its forms are held back:
 * what they would change is gone. `refresh.ts` tells both.
 */
export function sayGone(): void {
  document.body.dataset.gone = ''
  for (const button of submitButtons()) {
    button.disabled = true
    held.add(button)
  }
  if (document.getElementById('gone')) return
  const hasTexts = document.querySelector('form[data-dirty]') !== null
  const banner = make(
    'div',
    { id: 'gone', class: 'notice gone', 'data-kind': 'bad', 'data-own': true, role: 'alert' },
    make('strong', {}, 'This item no longer exists.'),
    ' It was deleted, or git removed its files. You can’t change it now; if it comes back, this page shows it again.',
    hasTexts ? ' You can still copy what you wrote.' : null,
  )
  document.querySelector('main')?.prepend(banner)
}

export function sayBack(): void {
  if (document.body.dataset.gone === undefined) return
  delete document.body.dataset.gone
  document.getElementById('gone')?.remove()
  for (const button of held) button.disabled = false
  held.clear()
}

const held = new Set<HTMLButtonElement>()

function submitButtons(): HTMLButtonElement[] {
  const buttons = document.querySelectorAll<HTMLButtonElement>('main form button[type=submit]')
  return [...buttons].filter(({ disabled }) => !disabled)
}
