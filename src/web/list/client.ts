import { startRowReturn, storeListAddress } from '../client/list-return.ts'
import { refresh, refreshAtMostEvery } from '../client/refresh.ts'
import { startSeenPlans } from '../client/seen-plans.tsx'
import { startSync } from './client/sync.ts'

/** Every case of the workspace may change the list. */
const REFRESH_MS = 1000

/** The page of cases: filters and pages are shown without loading it again. */
export function start(): void {
  if (document.body.dataset.page !== 'cases') return
  refreshAtMostEvery(REFRESH_MS)
  startFilters()
  startRowReturn()
  storeListAddress()
  startSync()
  startSeenPlans()
}

/** A filter changes the address, and the list is refreshed from it. */
function startFilters(): void {
  document.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement && target.form?.id === 'filters')
      void show(formAddress(target.form))
  })
  document.addEventListener('click', (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
      return
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-filter]')
    if (!link) return
    event.preventDefault()
    const isPage = link.rel === 'next' || link.rel === 'prev'
    void show(link.href).then(() => isPage && goToTop())
  })
  addEventListener('popstate', () => {
    storeListAddress()
    void refresh()
  })
}

async function show(address: string): Promise<void> {
  history.pushState(null, '', address)
  storeListAddress()
  await refresh()
}

/** A new page starts at its first row. */
function goToTop(): void {
  document.querySelector<HTMLElement>('[data-row]')?.focus({ preventScroll: true })
  scrollTo({ top: 0, behavior: 'instant' })
}

/** Without empty fields, and with readable commas. */
function formAddress(form: HTMLFormElement): string {
  const fields = [...new FormData(form)].filter(([, value]) => value !== '')
  const query = fields.map(([name, value]) => {
    return `${name}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`
  })
  return query.length === 0 ? '/' : `/?${query.join('&')}`
}
