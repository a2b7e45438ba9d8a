import { startListFilters } from './list-filters.ts'
import { keepListAddress, startRowReturn } from './list-return.ts'
import { refreshAtMostEvery } from './refresh.ts'

/** A list may hear of every case there is. */
const REFRESH_MS = 1000

/** The page of cases: filters and pages are shown without loading it again. */
export function startList(): void {
  if (document.body.dataset.page !== 'cases') return
  refreshAtMostEvery(REFRESH_MS)
  startListFilters()
  startRowReturn()
  keepListAddress()
}
