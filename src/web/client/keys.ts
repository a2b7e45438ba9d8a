/**
 * Keys: `data-key` on a link, button or field says which key goes to it. Links and buttons are
 * clicked, fields get the focus. `?` lists the keys that the page has. None of them counts while
 * something is being typed.
 */
export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (event.key === 'Escape') return leaveField(event)
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return
    if (event.key === '?') showHelp()
    else if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 1 : -1)
    else if (!go(event.key)) return
    event.preventDefault()
  })
  document.addEventListener('click', (event) => {
    if ((event.target as Element).closest('[data-help]')) showHelp()
  })
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]')
  )
}

function leaveField(event: KeyboardEvent): void {
  if (isTyping(event.target) && !document.querySelector('dialog[open]'))
    (event.target as HTMLElement).blur()
}

function go(key: string): boolean {
  const target = [...document.querySelectorAll<HTMLElement>('[data-key]')].find(
    (each) => each.dataset.key === key && isShown(each),
  )
  if (!target) return false
  if (target.matches('input, textarea, select')) {
    target.focus()
    if (target instanceof HTMLInputElement) target.select()
  } else target.click()
  return true
}

function isShown(element: HTMLElement): boolean {
  return element.checkVisibility()
}

/** Moves the focus along what the page marks with `data-row`, as j and k do in a mail program. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter(isShown)
  const at = rows.findIndex(
    (row) => row === document.activeElement || row.contains(document.activeElement),
  )
  const next = at === -1 ? (by === 1 ? rows[0] : rows.at(-1)) : rows[at + by]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

const ALWAYS: [key: string, what: string][] = [
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Leave a field or dialog'],
  ['?', 'These keys'],
]

function showHelp(): void {
  const dialog = document.createElement('dialog')
  dialog.className = 'keys-help'
  const heading = document.createElement('h2')
  heading.id = 'keys-help-title'
  heading.textContent = 'Keys'
  dialog.setAttribute('aria-labelledby', heading.id)
  const list = document.createElement('dl')
  const own = [...document.querySelectorAll<HTMLElement>('[data-key]')].filter(isShown)
  const named = own.map((each): [string, string] => [each.dataset.key!, nameOf(each)])
  const hasRows = document.querySelector('[data-row]') !== null
  for (const [key, what] of [...named, ...(hasRows ? ALWAYS : ALWAYS.slice(3))]) {
    const term = document.createElement('dt')
    const kbd = document.createElement('kbd')
    kbd.textContent = key
    term.append(kbd)
    const meaning = document.createElement('dd')
    meaning.textContent = what
    list.append(term, meaning)
  }
  const form = document.createElement('form')
  form.method = 'dialog'
  const close = document.createElement('button')
  close.textContent = 'Close'
  form.append(close)
  dialog.append(heading, list, form)
  document.body.append(dialog)
  dialog.addEventListener('close', () => dialog.remove())
  dialog.showModal()
}

function nameOf(element: HTMLElement): string {
  const label = element.dataset.keyName ?? element.getAttribute('aria-label')
  const byLabel = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined
  return (label ?? byLabel ?? element.textContent ?? '').trim().replace(/\s+/g, ' ')
}
