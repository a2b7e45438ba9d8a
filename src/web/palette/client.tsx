import { fuzzyScore, questionScore } from '../../model/fuzzy.ts'
import { directionOf } from '../../rendering/direction.ts'
import { element } from '../client/dom.ts'
import { areOn, nameOf, pageActions, showHelp, turnKeys } from '../client/keys.ts'

/** A place to go to, or something to do. */
interface Option {
  title: string
  detail: string
  /** Null for an action. */
  href: string | null
  run?: () => void
}

interface Group {
  title: string
  options: Option[]
}

const IS_MAC = /^Mac|^iP/.test(navigator.platform)
const TYPING_MS = 60
const RETRY_MS = 1_000
/** Of a group, unless more was asked for. */
const MAX_OPTIONS = 8

/** The command palette: Ctrl-K, or Cmd-K on a Mac, opens a list of cases, actions, files and settings. */
export function start(): void {
  if (IS_MAC)
    for (const key of document.querySelectorAll('[data-palette] kbd')) key.textContent = '⌘ K'
  document.addEventListener('keydown', (event) => {
    const isOurs = IS_MAC ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey
    if (!isOurs || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return
    event.preventDefault()
    const open = document.querySelector<HTMLDialogElement>('dialog.palette')
    if (open) open.close()
    else if (!document.querySelector('dialog[open]')) openPalette()
  })
  document.addEventListener('click', (event) => {
    if ((event.target as Element).closest('[data-palette]')) openPalette()
  })
}

function openPalette(): void {
  // of the page, before the dialog hides it
  const local = [actions(), places(), settings()]
  let files: Option[] = []
  let help: Option[] = []
  let cases: Option[] = []
  let asked = 0
  let typing: number | undefined
  let move: ((by: number) => void) | undefined
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
        maxlength={200}
      />
      <div class="palette-list" role="listbox" id="palette-list" aria-label="Results" />
      <p class="palette-foot" aria-hidden="true">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
      </p>
      <p class="visually-hidden" role="status" />
    </dialog>,
  )
  const input = dialog.querySelector('input')!
  const list = dialog.querySelector<HTMLElement>('[role=listbox]')!
  const status = dialog.querySelector<HTMLElement>('[role=status]')!
  /** What the arrows chose: results that come later do not take it away. */
  let chosen: Option | null = null

  function show(): void {
    const groups = groupsFor(input.value.trim(), { local, files, help, cases })
    const options = groups.flatMap(({ options }) => options)
    const before = options.findIndex((option) => chosen !== null && isSame(option, chosen))
    list.replaceChildren(...groupElements(groups, run))
    const rows = [...list.querySelectorAll<HTMLElement>('[role=option]')]
    let at = -1
    const choose = (by: number) => {
      rows[at]?.setAttribute('aria-selected', 'false')
      at = rows.length === 0 ? -1 : (at + by + rows.length) % rows.length
      const row = rows[at]
      row?.setAttribute('aria-selected', 'true')
      row?.scrollIntoView({ block: 'nearest' })
      if (row) input.setAttribute('aria-activedescendant', row.id)
      else input.removeAttribute('aria-activedescendant')
    }
    choose(Math.max(before, 0) + 1)
    move = (by) => {
      choose(by)
      chosen = options[at] ?? null
    }
    status.textContent = options.length === 0 ? 'No results' : `${options.length} results`
    if (options.length === 0) list.append(element(<p class="palette-none">No results</p>))
  }

  function run(option: Option): void {
    dialog.close()
    if (option.href !== null) location.assign(option.href)
    else option.run?.()
  }

  async function loadCases(): Promise<void> {
    const ask = ++asked
    const found = await load(`/palette?q=${encodeURIComponent(input.value.trim())}`)
    if (ask !== asked || !dialog.open) return
    if (!found) {
      typing = setTimeout(() => void loadCases(), RETRY_MS)
      return
    }
    cases = found
    show()
  }

  input.addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(() => void loadCases(), TYPING_MS)
    chosen = null
    show()
  })
  dialog.addEventListener('keydown', (event) => {
    if (event.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      move?.(event.key === 'ArrowDown' ? 1 : -1)
    } else if (event.key === 'Enter') {
      const row = list.querySelector<HTMLElement>('[aria-selected=true]')
      if (!row) return event.preventDefault()
      const isNewTab = (event.ctrlKey || event.metaKey) && row instanceof HTMLAnchorElement
      if (isNewTab) open(row.href, '_blank', 'noopener')
      else row.click()
    } else return
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
  show()
  void loadCases()
  void load('/help-links').then((found) => {
    if (!found || !dialog.open) return
    help = found
    show()
  })
  const id = presentCase()
  if (id !== null) {
    void load(`/palette/${id}`).then((found) => {
      if (!found || !dialog.open) return
      files = found
      show()
    })
  }
}

interface Found {
  local: readonly Group[]
  files: readonly Option[]
  help: readonly Option[]
  /** Found by the service, best first. */
  cases: readonly Option[]
}

/** What fits a query, by group; the group with the best match first, unless nothing is typed. */
function groupsFor(query: string, { local, files, help, cases }: Found): Group[] {
  const [actions, places, settings] = local as [Group, Group, Group]
  const inCase = { title: 'In this case', options: [...files] }
  const id = presentCase()
  const ofCases =
    query === ''
      ? { title: 'Recent cases', options: cases.filter(({ href }) => href !== `/case/${id}`) }
      : { title: 'Cases', options: [...cases] }
  if (query === '') {
    return [ofCases, actions, inCase, places, settings]
      .map(({ title, options }) => ({ title, options: options.slice(0, MAX_OPTIONS) }))
      .filter(({ options }) => options.length > 0)
  }
  const pages = { title: 'Help', options: [...help] }
  const scored = [actions, inCase, places, settings].map((group) => best(query, group))
  const answers = best(query, pages)
  // people ask the help in whole sentences
  scored.push(answers.options.length > 0 ? answers : best(query, pages, questionScore))
  // the service sends the cases in order; until it has answered, those of an earlier query may not fit
  const fitting = best(query, ofCases)
  const isId = fitting.options.length < ofCases.options.length && /^[0-9a-f-]{4,}$/i.test(query)
  const shownCases = isId ? { ...ofCases, score: 1e6 } : fitting
  return [shownCases, ...scored]
    .filter(({ options }) => options.length > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ title, options }) => ({ title, options: options.slice(0, MAX_OPTIONS) }))
    .concat([searchFor(query)])
}

function best(
  query: string,
  { title, options }: Group,
  scoreOf = fuzzyScore,
): Group & { score: number } {
  const fitting = options
    .map((option) => ({ option, score: scoreOf(query, option.title) }))
    .filter((each): each is { option: Option; score: number } => each.score !== null)
    .sort((a, b) => b.score - a.score)
  return {
    title,
    options: fitting.map(({ option }) => option),
    score: fitting[0]?.score ?? 0,
  }
}

function searchFor(query: string): Group {
  return {
    title: 'Search',
    options: [
      {
        title: `Search all content for “${query}”`,
        detail: '',
        href: `/find?q=${encodeURIComponent(query)}`,
      },
    ],
  }
}

/** What has a key on this page. Those of the header are places. */
function actions(): Group {
  const options = pageActions()
    .filter(({ isPlace }) => !isPlace)
    .map(({ name, key, run }) => ({
      title: name,
      detail: key,
      href: null,
      run,
    }))
  return { title: 'On this page', options }
}

function places(): Group {
  const links = document.querySelectorAll<HTMLAnchorElement>('.site nav a, .site-docs')
  const options = [...links].map((link) => ({
    title: link.dataset.key === 'n' ? 'New case' : `Go to ${nameOf(link)}`,
    detail: link.dataset.key ?? '',
    href: link.href,
  }))
  return { title: 'Go to', options }
}

function settings(): Group {
  const isOn = areOn()
  return {
    title: 'Settings',
    options: [
      {
        title: isOn ? 'Turn single keys off' : 'Turn single keys on',
        detail: '',
        href: null,
        run: () => turnKeys(!isOn),
      },
      {
        title: 'Show the keys of this page',
        detail: '?',
        href: null,
        run: showHelp,
      },
    ],
  }
}

function groupElements(groups: readonly Group[], run: (option: Option) => void): HTMLElement[] {
  let count = 0
  return groups.map(({ title, options }, index) => {
    const group = element(
      // biome-ignore lint/a11y/useSemanticElements: a listbox has groups of options
      <div role="group" aria-labelledby={`palette-group-${index}`}>
        <p class="palette-group" id={`palette-group-${index}`} role="presentation">
          {title}
        </p>
      </div>,
    )
    for (const option of options) {
      const row = optionElement(option, `palette-option-${count++}`)
      row.addEventListener('click', (event) => {
        if (option.href !== null && (event.ctrlKey || event.metaKey || event.shiftKey)) return
        event.preventDefault()
        run(option)
      })
      group.append(row)
    }
    return group
  })
}

function optionElement({ title, detail, href }: Option, id: string): HTMLElement {
  const content = (
    <>
      <bdi class="palette-title" dir={directionOf(title)}>
        {title}
      </bdi>
      {detail !== '' && (detail.length === 1 ? <kbd>{detail}</kbd> : <small>{detail}</small>)}
    </>
  )
  return href === null
    ? element(
        // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus
        <div class="palette-option" role="option" id={id} aria-selected="false">
          {content}
        </div>,
      )
    : element(
        <a
          class="palette-option"
          role="option"
          id={id}
          aria-selected="false"
          href={href}
          tabindex={-1}
        >
          {content}
        </a>,
      )
}

function isSame(one: Option, other: Option): boolean {
  return one.href === other.href && one.title === other.title
}

function presentCase(): string | null {
  return /^\/case\/([0-9a-f-]{36})(?:\/|$)/.exec(location.pathname)?.[1] ?? null
}

/** Null if the service does not answer: the rest works without it. */
async function load(address: string): Promise<Option[] | null> {
  try {
    const response = await fetch(address, { headers: { accept: 'application/json' } })
    return response.ok ? ((await response.json()) as Option[]) : null
  } catch {
    return null
  }
}
