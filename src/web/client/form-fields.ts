import { parseRequirements } from '../../markdown/requirement-line.ts'

export type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** What the form would send; undefined if it has no fields. main.ts lists the attributes that change it. */
export function fieldsOf(form: HTMLFormElement): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> = {}
  const chosen: Record<string, unknown> = {}
  const controls = controlsOf(form)
  for (const control of controls) {
    const { name, value, dataset } = control
    if (form.dataset.onlyChanged !== undefined && !isControlChanged(control)) continue
    if (control instanceof HTMLInputElement && control.type === 'checkbox')
      fields[name] = control.checked
    else if (control instanceof HTMLInputElement && control.type === 'radio' && !control.checked)
      continue
    else if (dataset.list === 'lines') Object.assign(fields, linesOf(value))
    else if (dataset.list === 'fields') Object.assign(chosen, JSON.parse(value))
    else if (dataset.list === 'json') fields[name] = JSON.parse(value)
    else if (value === '' && dataset.empty === 'omit') continue
    else if (value === '' && dataset.empty === 'null') fields[name] = null
    else if (dataset.list === 'requirements') fields[name] = parseRequirements(value)
    else if (dataset.list === 'spaces') fields[name] = split(value, /[\s,]+/)
    else if (dataset.list === 'commas') fields[name] = split(value, ',')
    else fields[name] = value
  }
  return controls.length === 0 ? undefined : { ...fields, ...chosen }
}

/** Those that are sent. */
export function controlsOf(form: HTMLFormElement): Control[] {
  return ([...form.elements] as Control[]).filter(({ name, disabled }) => name && !disabled)
}

export function isChanged(form: HTMLFormElement): boolean {
  return ([...form.elements] as Control[]).some(isControlChanged)
}

/** Whether its value differs from what the page showed. */
export function isControlChanged(control: Control): boolean {
  if (control instanceof HTMLTextAreaElement) return control.value !== control.defaultValue
  if (control instanceof HTMLInputElement)
    return control.type === 'checkbox' || control.type === 'radio'
      ? control.checked !== control.defaultChecked
      : control.value !== control.defaultValue
  if (control instanceof HTMLSelectElement) {
    const first = [...control.options].findIndex((option) => option.defaultSelected)
    return control.selectedIndex !== Math.max(0, first)
  }
  return false
}

/** The value that the page showed. */
export function defaultOf(control: Control): string {
  if (!(control instanceof HTMLSelectElement)) return control.defaultValue
  const option = [...control.options].find(({ defaultSelected }) => defaultSelected)
  return (option ?? control.options[0])?.value ?? ''
}

/** Makes the fields read-only while the form is sent: input in the meantime would be lost. Returns the undo. */
export function lockForm(form: HTMLFormElement): () => void {
  const locked = [...form.elements].filter(
    (each): each is HTMLInputElement | HTMLTextAreaElement =>
      (each instanceof HTMLInputElement || each instanceof HTMLTextAreaElement) && !each.readOnly,
  )
  form.setAttribute('data-busy', '')
  for (const control of locked) control.readOnly = true
  return () => {
    form.removeAttribute('data-busy')
    for (const control of locked) control.readOnly = false
  }
}

/** `12` or `12-14`; nothing for an empty field. */
function linesOf(text: string): { line?: number; end_line?: number } {
  const [line, end] = text.split('-').map(Number)
  if (!line) return {}
  return end === undefined ? { line } : { line, end_line: end }
}

function split(text: string, between: RegExp | string): string[] {
  return text
    .split(between)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
}
