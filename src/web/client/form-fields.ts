export type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/**
 * What the form would send; undefined where it has no fields. With `data-only-changed` those alone that
 * are not as they were shown.
 */
export function fieldsOf(form: HTMLFormElement): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> = {}
  const controls = controlsOf(form)
  for (const control of controls) {
    const { name, value, dataset } = control
    if (form.dataset.onlyChanged !== undefined && !isControlChanged(control)) continue
    if (control instanceof HTMLInputElement && control.type === 'checkbox')
      fields[name] = control.checked
    else if (control instanceof HTMLInputElement && control.type === 'radio' && !control.checked)
      continue
    else if (value === '' && dataset.empty === 'omit') continue
    else if (value === '' && dataset.empty === 'null') fields[name] = null
    else if (dataset.as === 'words') fields[name] = pieces(value, /[\s,]+/)
    else if (dataset.as === 'list') fields[name] = pieces(value, ',')
    else fields[name] = value
  }
  return controls.length === 0 ? undefined : fields
}

/** Those that are fields. */
export function controlsOf(form: HTMLFormElement): Control[] {
  return ([...form.elements] as Control[]).filter(({ name, disabled }) => name && !disabled)
}

export function isChanged(form: HTMLFormElement): boolean {
  return ([...form.elements] as Control[]).some(isControlChanged)
}

/** Whether it is not as the page showed it. */
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

/** While a form is sent nothing can be typed that its answer would sweep away. Gives the end of it. */
export function holdForm(form: HTMLFormElement): () => void {
  const held = [...form.elements].filter(
    (each): each is HTMLInputElement | HTMLTextAreaElement =>
      (each instanceof HTMLInputElement || each instanceof HTMLTextAreaElement) && !each.readOnly,
  )
  form.setAttribute('data-busy', '')
  for (const control of held) control.readOnly = true
  return () => {
    form.removeAttribute('data-busy')
    for (const control of held) control.readOnly = false
  }
}

function pieces(text: string, between: RegExp | string): string[] {
  return text
    .split(between)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
}
