import { store, stored } from './storage.ts'

const ADDRESS = 'list-address'
const ROW = 'list-row'
const RETURN = 'list-return'
/** These links lead to the list as it was last shown; the brand leads to the whole list. */
const LINKS = '.site nav a[data-key="g"], .crumbs a[href="/"], a[data-return]'

/** The row by which the list was left. */
interface Row {
  /** The address of the list then. */
  address: string
  id: string
  /** Its place on the page, used if the row is gone. */
  at: number
}

/** On the list: remembers its address, with page and filters. */
export function storeListAddress(): void {
  store(ADDRESS, location.pathname + location.search)
}

/** On every other page: the links to the list lead to it as it was left. */
export function startListReturn(): void {
  if (document.body.dataset.page === 'cases') return
  const address = stored(ADDRESS)
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
    if ((target as Element).closest('[data-return]')) store(RETURN, 'yes')
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
  store(RETURN, null)
  if (row) whenLoaded(() => focusRow(row))
}

function remember({ id }: HTMLElement): void {
  const at = rows().findIndex((row) => row.id === id)
  const row: Row = { address: location.pathname + location.search, id, at }
  history.replaceState({ row }, '')
  store(ROW, JSON.stringify(row))
}

function rowToFocus(): Row | null {
  const ofHistory = (history.state as { row?: Row } | null)?.row
  if (ofHistory) return ofHistory
  if (stored(RETURN) === null) return null
  const row = JSON.parse(stored(ROW) ?? 'null') as Row | null
  return row?.address === location.pathname + location.search ? row : null
}

/** Back restores the scroll position only when the page has loaded; focusing a row earlier has no effect. */
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
