const TEXTS = {
  edit: 'Your edit is not saved, so Approve is held back: the text above would run without it. Save or discard it.',
  revise:
    'What you wrote to ask for another plan is not sent, so Approve is held back. Send it, or empty the field.',
} as const

/** Says in the form of Approve what is written below it and not sent; true where something is. */
export function sayUnsaved(form: HTMLElement): boolean {
  const which = (['edit', 'revise'] as const).find((id) =>
    document.querySelector(`#${id} form[data-dirty]`),
  )
  const said = form.querySelector<HTMLElement>('.unsaved-said')
  if (said && said.dataset.of === which) return true
  said?.remove()
  if (!which) return false
  form.append(notice(which))
  return true
}

function notice(which: keyof typeof TEXTS): HTMLElement {
  const element = document.createElement('p')
  element.className = 'notice unsaved-said'
  element.dataset.kind = 'warn'
  element.dataset.own = ''
  element.dataset.of = which
  element.setAttribute('role', 'status')
  const link = document.createElement('a')
  link.href = `#${which}`
  link.textContent = 'Show it'
  element.append(`${TEXTS[which]} `, link)
  return element
}
