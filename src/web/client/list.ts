import { startListChunks } from './list-chunks.ts'
import { startListFilters } from './list-filters.ts'
import { startListKeys } from './list-keys.ts'
import { startListPlace } from './list-place.ts'
import { keepListAddress } from './list-return.ts'

/** The page of cases: of a long list only what is near is there, and filters narrow it at once. */
export function startList(): void {
  if (document.body.dataset.page !== 'cases') return
  startListChunks()
  startListFilters()
  startListKeys()
  startListPlace()
  keepListAddress()
}
