import { stateLabel } from '../../model/state-groups.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { element } from '../client/dom.ts'
import { nameOf, pageActions } from '../client/keys.ts'
import { casePage, searchPage } from '../shell/addresses.ts'

/** A place to go to, or something to do on this page. */
interface Option {
  title: string
  /** A word at its end, or a key. */
  detail: string
  /** The line that was found. */
  line?: string | undefined
  /** Null for an action. */
  href: string | null
  run?: () => void
}

/** A row of `GET /triage` or a result of `GET /search`, which has lines. */
type Case = Pick<TriageRow, 'id' | 'title' | 'state'> & { lines?: { text: string }[] }

const IS_MAC = /^Mac|^iP/.test(navigator.platform)
const TYPING_MS = 100
const MAX_CASES = 8

/** Ctrl-K, Cmd-K on a Mac, or `/` opens the search from every page: its best results, and the actions of the page. */
export function start(): void {
  if (IS_MAC)
    for (const key of document.querySelectorAll('[data-palette] kbd')) key.textContent = '⌘ K'
  document.addEventListener('keydown', (event) => {
    const isOurs = IS_MAC ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey
    if (!isOurs || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return
    event.preventDefault()
    const open = document.querySelector<HTMLDialogElement>('dialog.palette')
    if (open) open.close()
    else if (!document.querySelector('dialog[open]')) openSearch()
  })
  document.addEventListener('click', (event) => {
    if ((event.target as Element).closest('[data-palette]')) openSearch()
  })
}

function openSearch(): void {
  const here = [...actions(), ...places()] // of the page, before the dialog hides it
  const dialog = element<HTMLDialogElement>(
    <dialog class="palette" aria-label="Search or jump to">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-label="Search or jump to"
        placeholder="Search or jump to…"
        autocomplete="off"
        spellcheck={false}
        maxlength={1000}
      />
      <div class="palette-list" role="listbox" id="palette-list" aria-label="Results" />
      <p class="visually-hidden" role="status" />
    </dialog>,
  )
  const input = dialog.querySelector('input')!
  const list = dialog.querySelector<HTMLElement>('[role=listbox]')!
  let options: Option[] = []
  let at = 0
  /** What the arrows chose: results that come later leave it chosen. */
  let chosen: Option | undefined
  /** Only the answer to the last question counts. */
  let asked = 0
  let typing: number | undefined

  function show(cases: readonly Case[]): void {
    const query = input.value.trim()
    options = optionsFor(query, cases, here)
    list.replaceChildren(...options.map(optionElement))
    const isChosen = ({ href, title }: Option) => href === chosen?.href && title === chosen?.title
    at = Math.max(0, options.findIndex(isChosen))
    dialog.querySelector('[role=status]')!.textContent = `${options.length} results`
    choose(0)
  }

  function choose(by: number): void {
    if (options.length === 0) return
    list.children[at]?.setAttribute('aria-selected', 'false')
    at = (at + by + options.length) % options.length
    const row = list.children[at]!
    row.setAttribute('aria-selected', 'true')
    row.scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', row.id)
  }

  async function search(): Promise<void> {
    const question = ++asked
    const query = input.value.trim()
    const found = await load(query === '' ? '/triage?' : `/search?q=${encodeURIComponent(query)}&`)
    if (question === asked && dialog.open) show(found)
  }

  input.addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(() => void search(), TYPING_MS)
    asked++
    chosen = undefined
    show([])
  })
  list.addEventListener('click', (event) => {
    const row = (event.target as Element).closest('[role=option]')
    const option = options[[...list.children].indexOf(row!)]
    if (option?.href !== null) return // it is a link
    dialog.close()
    option.run?.()
  })
  dialog.addEventListener('keydown', (event) => {
    if (event.isComposing) return
    const row = list.children[at]
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      choose(event.key === 'ArrowDown' ? 1 : -1)
      chosen = options[at]
    } else if (event.key !== 'Enter') return
    else if (row instanceof HTMLAnchorElement && (event.ctrlKey || event.metaKey))
      open(row.href, '_blank', 'noopener')
    else if (row instanceof HTMLElement) row.click()
    event.preventDefault()
  })
  // the backdrop
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close())
  dialog.addEventListener('close', () => {
    clearTimeout(typing)
    dialog.remove()
  })
  document.body.append(dialog)
  dialog.showModal()
  input.focus()
  show([])
  void search()
}

/**
 * What of the page begins with these letters, so that no result that comes later takes its place under the finger; then
 * the cases as the service sends them, what else of the page has the letters, and the page with all results.
 */
function optionsFor(query: string, cases: readonly Case[], here: readonly Option[]): Option[] {
  const found = cases.map(({ id, title, state, lines }) => ({
    title: visibleText(title),
    detail: stateLabel(state),
    line: lines?.[0] && visibleText(lines[0].text.trim()),
    href: casePage(id),
  }))
  if (query === '') return [...found, ...here]
  const place = ({ title }: Option) => title.toLowerCase().indexOf(query.toLowerCase())
  const first = here.filter((option) => place(option) === 0)
  const others = here.filter((option) => place(option) > 0)
  const all = { title: `All results for “${query}”`, detail: '', href: searchPage(query) }
  return [...first, ...found, ...others, all]
}

/** What has a key on this page. Those of the header are places. */
function actions(): Option[] {
  return pageActions()
    .filter(({ isPlace }) => !isPlace)
    .map(({ name, key, run }) => ({ title: name, detail: key, href: null, run }))
}

function places(): Option[] {
  const links = document.querySelectorAll<HTMLAnchorElement>('.site nav a, .site-docs')
  return [...links].map((link) => ({
    title: link.dataset.key === 'n' ? 'New case' : `Go to ${nameOf(link)}`,
    detail: link.dataset.key ?? '',
    href: link.href,
  }))
}

function optionElement({ title, detail, line, href }: Option, at: number): HTMLElement {
  const content = (
    <>
      <span class="palette-title">
        <bdi dir={directionOf(title)}>{title}</bdi>
        {line && (
          <small>
            <bdi dir={directionOf(line)}>{line}</bdi>
          </small>
        )}
      </span>
      {detail !== '' && (detail.length === 1 ? <kbd>{detail}</kbd> : <small>{detail}</small>)}
    </>
  )
  const attributes = {
    class: 'palette-option',
    role: 'option',
    id: `palette-option-${at}`,
    'aria-selected': 'false',
  } as const
  return element(
    href === null ? (
      <div {...attributes}>{content}</div>
    ) : (
      <a {...attributes} href={href} tabindex={-1}>
        {content}
      </a>
    ),
  )
}

/** None if the service does not answer, or the words are no query: the rest works without them. */
async function load(address: string): Promise<Case[]> {
  try {
    const response = await fetch(`${address}limit=${MAX_CASES}`)
    return response.ok ? ((await response.json()) as Case[]) : []
  } catch {
    return []
  }
}
