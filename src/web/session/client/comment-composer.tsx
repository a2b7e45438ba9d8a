import { element } from '../../client/dom.ts'
import { refresh } from '../../client/refresh.ts'
import type { Sent } from '../../client/send.ts'

interface ComposerProps {
  /** What the comment is about: "line 12". */
  about: string
  action: string
  /** Sent besides the text. */
  fields: readonly HiddenField[]
}

interface HiddenField {
  name: string
  value: string
  /** How it is sent (form-fields.ts). */
  list?: 'lines' | 'json'
}

let made = 0

/** A form for a comment, which closes itself. A refresh of the page leaves it alone. */
export function composer({ about, action, fields }: ComposerProps): HTMLFormElement {
  const id = `composer-${++made}`
  return element<HTMLFormElement>(
    <form class="form comment-composer stack" data-own="" data-send="POST" action={action}>
      {fields.map(({ name, value, list }) => (
        <input type="hidden" name={name} value={value} data-list={list} data-empty="omit" />
      ))}
      <label for={id}>Comment on {about}</label>
      <textarea id={id} name="text" rows={3} required />
      <div class="actions">
        <button type="submit" class="primary compact">
          Add comment
        </button>
        <button type="reset" class="quiet compact">
          Cancel
        </button>
        <span class="muted small">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
      </div>
    </form>,
  )
}

/** Gives a form the focus, and scrolls until the bar with Approve, which lies over the plan, hides none of it. */
export function showWhole(form: HTMLElement): void {
  const bar = document.querySelector<HTMLElement>('.approve-bar')
  form.style.setProperty('--bar', `${bar?.offsetHeight ?? 0}px`)
  form.querySelector('textarea')?.focus({ preventScroll: true })
  form.scrollIntoView({ block: 'nearest' })
}

/** Closes other forms that nothing was written in. */
export function closeEmptyComposers(except: HTMLFormElement | undefined): void {
  for (const form of openComposers())
    if (form !== except && !form.hasAttribute('data-dirty')) close(form)
}

export function openComposers(): HTMLFormElement[] {
  return [...document.querySelectorAll<HTMLFormElement>('.comment-composer')]
}

export function startComposers(): void {
  document.addEventListener('reset', ({ target }) => {
    if ((target as Element).matches('.comment-composer')) close(target as HTMLFormElement)
  })
  document.addEventListener('keydown', (event) => {
    const form = (event.target as Element).closest?.<HTMLFormElement>('.comment-composer')
    // keys.ts has taken the focus from the field already
    if (event.key === 'Escape' && form && !form.hasAttribute('data-dirty')) close(form, true)
  })
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLFormElement }
    if (!target.matches('.comment-composer') || !detail.ok) return
    event.preventDefault()
    close(target)
    const from = document.activeElement
    void refresh().then(() => {
      // an event may have shown the comment before, and the person may already type elsewhere
      const { activeElement: now } = document
      if (now === from || now === document.body)
        document.getElementById(`comment-${detail.body.id}`)?.focus()
    })
  })
}

/** In a table the form has a row for itself. */
function close(form: HTMLFormElement, hadFocus = form.contains(document.activeElement)): void {
  const row = form.closest('tr.comments')
  const before = (row ?? form).previousElementSibling
  const back = row ? before?.querySelector<HTMLElement>('.line-number a') : before
  ;(row ?? form).remove()
  if (hadFocus && back instanceof HTMLElement) back.focus()
}
