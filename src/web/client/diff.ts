import { notify } from './notices.ts'
import { fetchPage, refresh } from './refresh.ts'
import { scrollInto } from './scroll-into.ts'
import { remember, remembered } from './storage.ts'

const LAYOUT = 'diff'

/**
 * Diffs: files that are loaded when they are needed, the tree that follows the reader, and
 * line numbers that the arrow keys move between. The page shows the diff without it, too.
 */
export function startDiff(): void {
  if (!document.querySelector('[data-diff]')) {
    document.addEventListener('refreshed', begin)
    return
  }
  begin()
}

function begin(): void {
  if (!document.querySelector('[data-diff]')) return
  document.removeEventListener('refreshed', begin)
  useStoredLayout()
  watchFiles()
  openTarget()
  document.addEventListener('refreshed', () => {
    watchFiles()
    showCurrent()
  })
  document.addEventListener('click', onClick)
  document.addEventListener('keydown', onKey, true)
  window.addEventListener('hashchange', openTarget)
  for (const moving of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
    window.addEventListener(moving, () => (pinned = undefined), { passive: true })
}

const allFiles = () => [...document.querySelectorAll<HTMLElement>('.file[data-file]')]

function fold(file: HTMLElement, isFolded: boolean): void {
  file.querySelector(':scope > details')?.toggleAttribute('open', !isFolded)
}

/* Lines that come later */

async function load(link: HTMLAnchorElement): Promise<void> {
  const place = link.closest<HTMLElement>('.file-lines')
  if (!place || link.getAttribute('aria-busy') === 'true') return
  link.setAttribute('aria-busy', 'true')
  try {
    const { page } = await fetchPage(link.href)
    const lines = page?.getElementById(place.id)
    if (!lines) throw new Error(`no lines at ${link.href}`)
    // a refresh would bring the link again
    place.dataset.keep = ''
    place.replaceChildren(...lines.childNodes)
    startLines(place)
    pinned?.scrollIntoView({ behavior: 'instant' })
  } catch {
    link.removeAttribute('aria-busy')
    link.dataset.load = 'asked'
    notify('The lines could not be loaded. Try again.')
  }
}

/** Opens the file that the address names a line of, loads it if need be, and shows the line. */
async function openTarget(): Promise<void> {
  const [, id] = /^#(diff-[0-9a-f]+)(?:-[LR]\d+)?$/.exec(location.hash) ?? []
  const file = id && document.getElementById(id)
  if (!file) return
  fold(file, false)
  const link = file.querySelector<HTMLAnchorElement>('a[data-load]')
  if (!link || location.hash === `#${id}`) return
  await load(link)
  // the browser marks the target only if the address changes while the target is there
  location.replace(location.hash)
  document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: 'center' })
}

/** The file that the tree led to: it stays at the top while files above it are loaded, until the reader moves on. */
let pinned: Element | undefined

/** At once: scrolling past the files between would load them all. */
function showFile(hash: string): void {
  const file = document.getElementById(hash.slice(1))
  if (!file) return
  history.pushState(history.state, '', hash)
  fold(file, false)
  file.querySelector<HTMLElement>('summary')?.focus({ preventScroll: true })
  file.scrollIntoView({ behavior: 'instant' })
  pinned = file
}

/* What the reader is looking at */

let nearing: IntersectionObserver | undefined
let reading: IntersectionObserver | undefined

function watchFiles(): void {
  nearing ??= new IntersectionObserver(onNear, { rootMargin: '100% 0px' })
  reading ??= new IntersectionObserver(onRead, { rootMargin: '-60px 0px -80% 0px' })
  for (const file of allFiles()) reading.observe(file)
  for (const link of document.querySelectorAll('a[data-load=auto]')) nearing.observe(link)
  for (const lines of document.querySelectorAll<HTMLElement>('.file-lines')) startLines(lines)
}

function onNear(entries: readonly IntersectionObserverEntry[]): void {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue
    nearing?.unobserve(target)
    void load(target as HTMLAnchorElement)
  }
}

const inSight = new Set<Element>()

function onRead(entries: readonly IntersectionObserverEntry[]): void {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) inSight.add(target)
    else inSight.delete(target)
  }
  showCurrent()
}

/** Marks the file at the top of the window in the tree, and scrolls the tree to it. */
function showCurrent(): void {
  const file = allFiles().find((each) => inSight.has(each))
  const link = file && document.querySelector<HTMLElement>(`.tree-file[href="#${file.id}"]`)
  for (const other of document.querySelectorAll('.tree-file[aria-current]'))
    if (other !== link) other.removeAttribute('aria-current')
  if (!link || link.hasAttribute('aria-current')) return
  link.setAttribute('aria-current', 'true')
  scrollInto(link.closest('.diff-tree'), link, 40)
}

/* Lines */

/** Only one line of a table can be reached by Tab; the arrow keys lead to the others. */
function startLines(place: HTMLElement): void {
  const first = place.querySelector<HTMLElement>('.line-number a')
  if (first && !place.querySelector('.line-number a[tabindex="0"]')) first.tabIndex = 0
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const link = (event.target as Element).closest?.<HTMLElement>('.line-number a')
  if (!link || !['ArrowDown', 'ArrowUp'].includes(event.key)) return
  const table = link.closest('table')!
  const column = [...link.closest('tr')!.children].indexOf(link.closest('td')!)
  const links = [...table.querySelectorAll<HTMLElement>('.line-number a')].filter((each) => {
    const row = [...each.closest('tr')!.querySelectorAll('.line-number a')]
    const own = [...each.closest('tr')!.children].indexOf(each.closest('td')!)
    return own === column || row.length === 1
  })
  const next = links[links.indexOf(link) + (event.key === 'ArrowDown' ? 1 : -1)]
  if (!next) return
  link.tabIndex = -1
  next.tabIndex = 0
  next.focus()
  event.preventDefault()
}

/* Unified or split */

function useStoredLayout(): void {
  const layout = remembered(LAYOUT)
  const address = new URL(location.href)
  if (layout !== 'split' || address.searchParams.has('diff')) return
  if (window.matchMedia('(width < 44rem)').matches) return
  address.searchParams.set('diff', layout)
  history.replaceState(history.state, '', address)
  void refresh()
}

function onClick(event: MouseEvent): void {
  const target = event.target as Element
  const inTree = target.closest<HTMLAnchorElement>('a.tree-file')
  if (inTree && !event.ctrlKey && !event.metaKey) {
    event.preventDefault()
    showFile(inTree.hash)
  }
  const link = target.closest<HTMLAnchorElement>('a[data-load]')
  if (link && !event.ctrlKey && !event.metaKey) {
    event.preventDefault()
    void load(link)
  }
  const layout = target.closest<HTMLElement>('a[data-layout]')
  if (layout) remember(LAYOUT, layout.dataset.layout!)
}
