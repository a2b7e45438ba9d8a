/** Asks in a dialog of the page; resolves to whether it was confirmed. */
export function confirmed(question: string, yes: string): Promise<boolean> {
  const dialog = document.createElement('dialog')
  dialog.className = 'confirmation'
  const text = document.createElement('p')
  text.id = 'confirmation-text'
  text.textContent = question
  dialog.setAttribute('aria-labelledby', text.id)
  const form = document.createElement('form')
  form.method = 'dialog'
  form.append(button('Cancel', 'no', 'quiet'), button(yes.trim(), 'yes', 'danger'))
  dialog.append(text, form)
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'yes')
    })
  })
}

function button(text: string, value: string, className: string): HTMLButtonElement {
  const made = document.createElement('button')
  made.value = value
  made.className = className
  made.textContent = text
  return made
}
