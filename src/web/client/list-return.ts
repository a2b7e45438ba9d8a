import { willReturn } from './list-place.ts'
import { keep, kept } from './tab-memory.ts'

const ADDRESS = 'list-address'
/** The brand leads to the whole list, these to the list as it was seen last. */
const LINKS = '.site nav a[data-key="g"], .crumbs a[href="/"], a[data-return]'

/** On the list: its address is kept, whatever it is narrowed by. */
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
    if ((target as Element).closest('[data-return]')) willReturn()
  })
}
