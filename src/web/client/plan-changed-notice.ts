/** Says that Approve is held back, since another text than the one with the hash `read` is shown. */
export function changedNotice(read: string, when: 'just now' | 'again'): HTMLElement {
  const notice = document.createElement('div')
  notice.id = 'plan-changed'
  notice.className = 'notice'
  notice.dataset.kind = 'warn'
  notice.dataset.own = ''
  notice.setAttribute('role', 'alert')
  const text = document.createElement('p')
  text.textContent = `The plan changed ${when}, so Approve is held back. Read what is new: `
  const link = document.createElement('a')
  link.href = `?view=diff&against=${read.slice(0, 16)}#plan`
  link.textContent = 'what changed'
  text.append(link, '.')
  const button = document.createElement('button')
  button.type = 'button'
  button.dataset.haveRead = ''
  button.textContent = 'I have read it'
  if (when === 'again') {
    button.disabled = true
    setTimeout(() => {
      button.disabled = false
    }, SETTLE_MS)
  }
  notice.append(text, button)
  return notice
}

/** Another one in its place takes no click at first: it would be meant for the one before. */
const SETTLE_MS = 600
