import { showKeysHelp } from './keys-help.tsx'
import { remember, remembered } from './storage.ts'

const KEYS = 'keys'

/**
 * Keys: `data-key` on a link, button or field names the key that leads to it. Links and buttons are clicked, fields get
 * the focus. None of them works while something is typed, in a dialog, or after the reader has turned them off.
 */
export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (event.key === 'Escape') return leaveField(event)
    if (!areOn() || isTyping(event.target) || document.querySelector('dialog[open]')) return
    if (event.key === '?') showHelp()
    else if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 'next' : 'before')
    else if (!go(event.key)) return
    event.preventDefault()
  })
  document.addEventListener('click', (event) => {
    if ((event.target as Element).closest('[data-help]')) showHelp()
  })
  document.addEventListener('refreshed', announce)
  announce()
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
  const targets = withKeys().filter((each) => each.dataset.key === key)
  const target = targets.find((each) => !each.closest('.site')) ?? targets[0]
  if (!target) return false
  activate(target)
  return true
}

function activate(target: HTMLElement): void {
  if (target.matches('input, textarea, select')) {
    target.focus()
    if (target instanceof HTMLInputElement) target.select()
  } else target.click()
}

interface PageAction {
  key: string
  name: string
  /** It is a link of the header. */
  isPlace: boolean
  run(): void
}

/** What the keys of the page do. */
export function pageActions(): PageAction[] {
  return withKeys().map((element) => ({
    key: element.dataset.key!,
    name: nameOf(element),
    isPlace: element.closest('.site') !== null,
    run: () => activate(element),
  }))
}

/** Moves the focus along what the page marks with `data-row`, as in a mail program; at first to the first one in sight. */
function step(way: 'next' | 'before'): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter(isShown)
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const top = document.querySelector('.site')?.getBoundingClientRect().bottom ?? 0
  const row =
    at === -1
      ? rows.find((each) => each.getBoundingClientRect().top >= top)
      : rows[at + (way === 'next' ? 1 : -1)]
  row?.focus({ preventScroll: true })
  const item = row?.closest('li') ?? row
  item?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
}

function isShown(element: HTMLElement): boolean {
  return element.checkVisibility()
}

function withKeys(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-key]')].filter(
    (element) => isShown(element) || element.closest('.menu') !== null,
  )
}

function showHelp(): void {
  const hasRows = document.querySelector('[data-row]') !== null
  const keys = pageActions().map(({ key, name }): [string, string] => [key, name])
  const rowKeys: [string, string][] = [
    ['j', 'Next row'],
    ['k', 'Previous row'],
    ['?', 'Show these keys'],
  ]
  showKeysHelp({
    single: [...keys, ...rowKeys.slice(hasRows ? 0 : 2)],
    areOn: areOn(),
    turn: turnKeys,
  })
}

/** What the key of an element does; also what the search calls it. */
export function nameOf(element: HTMLElement): string {
  const label = element.dataset.keyName ?? element.getAttribute('aria-label')
  const byLabel = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined
  return (label ?? byLabel ?? element.textContent ?? '').trim().replace(/\s+/g, ' ')
}

/** Announces the keys to assistive technology, unless they are off. `?` belongs to the help button. */
function announce(): void {
  const areAnnounced = areOn()
  document.documentElement.classList.toggle('keys-off', !areAnnounced)
  // the button of the search names Ctrl-K itself
  for (const element of document.querySelectorAll<HTMLElement>(
    '[data-key]:not([data-palette]), [data-help]',
  )) {
    if (areAnnounced) element.setAttribute('aria-keyshortcuts', element.dataset.key ?? '?')
    else element.removeAttribute('aria-keyshortcuts')
  }
}

function areOn(): boolean {
  return remembered(KEYS) !== 'off'
}

function turnKeys(on: boolean): void {
  remember(KEYS, on ? null : 'off')
  announce()
}
