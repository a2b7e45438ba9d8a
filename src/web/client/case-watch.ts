import { make } from './case-elements.ts'
import { type Control, controlsOf } from './form-fields.ts'
import { beforeRefresh } from './refresh.ts'

/** Forms with `data-conflict` that are open tell at once when what they show is changed meanwhile. */
export function startCaseWatch(): void {
  beforeRefresh((next) => {
    for (const form of document.querySelectorAll<HTMLFormElement>('form[data-conflict][data-keep]'))
      look(form, next)
  })
  const clear = (event: Event) => {
    ;(event.target as HTMLElement).querySelector(':scope > .meanwhile')?.remove()
  }
  document.addEventListener('sent', clear)
  document.addEventListener('reset', clear)
}

function look(form: HTMLFormElement, next: Document): void {
  const other = next.getElementById(form.id)
  const changed = other instanceof HTMLFormElement ? changedIn(form, other) : []
  const shown = form.querySelector<HTMLElement>(':scope > .meanwhile')
  if (changed.length === 0) {
    shown?.remove()
    return
  }
  const text = `${changed.join(', ')}: changed meanwhile. Saving asks before it writes over that.`
  if (shown?.textContent === text) return
  shown?.remove()
  const attributes = { class: 'notice meanwhile', 'data-kind': 'warn', role: 'status' }
  form.prepend(make('p', { ...attributes, 'data-own': true }, text))
}

/** The labels of the fields that are not as they were when the form was shown. */
function changedIn(form: HTMLFormElement, next: HTMLFormElement): string[] {
  return controlsOf(form)
    .filter((control) => {
      const other = next.elements.namedItem(control.name)
      return other !== null && shownBy(control) !== shownBy(other as Control)
    })
    .map((control) => control.labels?.[0]?.textContent ?? control.name)
}

function shownBy(control: Control): string {
  return control instanceof HTMLSelectElement
    ? ([...control.options].find((option) => option.defaultSelected)?.value ?? '')
    : control.defaultValue
}
