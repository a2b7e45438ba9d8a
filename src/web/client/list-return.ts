import { keep, kept } from './tab-memory.ts'

const ADDRESS = 'list-address'
const ROW = 'list-row'
const RETURN = 'list-return'
/** The brand leads to the whole list, these to the list as it was seen last. */
const LINKS = '.site nav a[data-key="g"], .crumbs a[href="/"], a[data-return]'

/** The row by which the list was left. */
interface Row {
  /** The address of the list then. */
  address: string
  id: string
  /** Its place on the page: the reader goes on from there if the case has moved meanwhile. */
  at: number
}

/** On the list: remembers its address, with page and filters. */
export function keepListAddress(): void {
  keep(ADDRESS, location.pathname + location.search)
}

/** On every other page: the links to the list lead to it as it was left. */
export function startListReturn(): void {
  if (document.body.dataset.page === 'cases') return
  const address = kept(ADDRESS)
  if (address === null) return
  const lead = () => {
    for (const link of document.querySelectorAll<HTMLAnchorElement>(LINKS)) {
      link.setAttribute('href', address)
      link.dataset.return = ''
    }
  }
  lead()
  document.addEventListener('refreshed', lead) // which takes back what is in <main>
  document.addEventListener('click', ({ target }) => {
    if ((target as Element).closest('[data-return]')) keep(RETURN, 'yes')
  })
}

/**
 * On the list: Back, and links that return, lead to the row by which it was left, so that j and k go on from there.
 * The history remembers it for Back, the tab for the links.
 */
export function startRowReturn(): void {
  document.addEventListener('click', ({ target }) => {
    const row = (target as Element).closest<HTMLElement>('.case-row')
    if (row && (target as Element).closest('a:not([data-filter])')) remember(row)
  })
  const row = rowToFocus()
  keep(RETURN, null)
  if (row) whenLoaded(() => focusRow(row))
}

function remember({ id }: HTMLElement): void {
  const at = rows().findIndex((row) => row.id === id)
  const row: Row = { address: location.pathname + location.search, id, at }
  history.replaceState({ row }, '')
  keep(ROW, JSON.stringify(row))
}

function rowToFocus(): Row | null {
  const ofHistory = (history.state as { row?: Row } | null)?.row
  if (ofHistory) return ofHistory
  if (kept(RETURN) === null) return null
  const row = JSON.parse(kept(ROW) ?? 'null') as Row | null
  return row?.address === location.pathname + location.search ? row : null
}

/** The browser scrolls to where Back leads before that, and goes on from the focus only after it. */
function whenLoaded(then: () => void): void {
  if (document.readyState === 'complete') then()
  else addEventListener('load', () => requestAnimationFrame(then), { once: true })
}

function focusRow({ id, at }: Row): void {
  if (document.activeElement !== document.body) return // the reader is elsewhere already
  const row = document.getElementById(id) ?? rows()[at]
  row?.querySelector<HTMLElement>('[data-row]')?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
}

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('.case-row')]
}
