import type { Child, JSX } from 'hono/jsx'
import { directionOf } from '../../rendering/direction.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'

type FormDisclosureProps = JSX.IntrinsicElements['form'] & {
  /** Of the details. */
  id: string
  /** What the button says. */
  label: string
  formId?: string
}

/** A form that a button or a menu opens. client/disclosure.ts opens and closes it and moves the focus. */
export function FormDisclosure(props: FormDisclosureProps) {
  const { id, label, formId = `${id}-form`, children, ...attributes } = props
  return (
    <details class="disclosure needs-script" id={id}>
      <summary>{label}</summary>
      <form class="form" id={formId} {...attributes}>
        {children}
      </form>
    </details>
  )
}

interface FormActionsProps {
  submit: string
  cancel?: string
  primary?: boolean
  disabled?: boolean
  /** What to know before sending it. */
  children?: Child
}

/** The buttons of a form in a disclosure: send it, or close it and discard the input. */
export function FormActions(props: FormActionsProps) {
  const { submit, cancel = 'Cancel', primary = false, disabled = false, children } = props
  return (
    <div class="actions">
      <button type="submit" class={primary ? 'primary' : undefined} disabled={disabled}>
        {submit}
      </button>
      <button type="reset" class="quiet">
        {cancel}
      </button>
      {children}
    </div>
  )
}

interface ShowMoreProps<T> {
  /** Of the details, so that a refresh leaves it open or closed. */
  id: string
  items: readonly T[]
  limit: number
  /** What the rest is called, as "All 300 sessions". */
  label: string
  /** Renders some of the items; `start` is the index of the first. */
  list: (items: readonly T[], start: number) => Child
}

/** More items than a person reads would only delay every page. */
const MAX_ITEMS = 200

/** The first items of a long list, and others behind a click. */
export function ShowMore<T>({ id, items, limit, label, list }: ShowMoreProps<T>) {
  // hiding one or two items would save no space
  const shown = items.length <= limit + 2 ? items.length : limit
  const left = items.length - MAX_ITEMS
  return (
    <>
      {list(items.slice(0, shown), 0)}
      {shown < items.length && (
        <details class="show-more" id={id}>
          <summary>{label}</summary>
          {list(items.slice(shown, MAX_ITEMS), shown)}
          {left > 0 && <p class="small muted">{left} more are only in the files.</p>}
        </details>
      )}
    </>
  )
}

const MAX_CHARACTERS = 500
/** A longer text, which only a file can have, would delay every request. */
const MAX_TEXT = 100_000

/** A text that a person wrote; the end of a long one is behind a click. */
export function LongText({ text, class: name, id }: { text: string; class: string; id?: string }) {
  const shown = visibleProse(text.slice(0, MAX_TEXT).toWellFormed())
  if (shown.length <= MAX_CHARACTERS + 80) {
    return (
      <p class={name} dir={directionOf(shown)}>
        {shown}
      </p>
    )
  }
  return (
    <details class={`${name} long-text`} id={id}>
      <summary dir={directionOf(shown)}>
        <span class="long-text-start">{shown.slice(0, MAX_CHARACTERS).toWellFormed()} … </span>
        <span class="long-text-toggle" />
      </summary>
      <p dir={directionOf(shown)}>{shown}</p>
      {text.length > MAX_TEXT && <p class="small muted">The rest is only in the file.</p>}
    </details>
  )
}
