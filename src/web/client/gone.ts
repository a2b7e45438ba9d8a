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
    make('strong', {}, 'What this page shows is not there any more.'),
    ' It was deleted, or git took its files away. Nothing of it can be changed now; if it comes back, this page shows it again.',
    hasTexts ? ' What you have written is still here to be copied.' : null,
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
