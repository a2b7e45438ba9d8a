import type { CaseFolder } from '../model/case-folder.ts'
import type { CaseJson } from '../model/case-json.ts'
import { caseFilter } from './case-filter.ts'
import type { ServiceContext } from './context.ts'
import type { HttpNeeds } from './needs.ts'
import { newestFirst, page } from './page.ts'
import { caseJson } from './present.ts'

interface SortedList {
  version: number
  cases: CaseJson[]
  bytes: Uint8Array | null
}

const lists = new WeakMap<HttpNeeds, SortedList>()

/** The list of cases, newest first; its order and its bytes are kept until something changes. */
export async function caseList(service: HttpNeeds, c: ServiceContext): Promise<Response> {
  const fits = caseFilter((name) => c.req.query(name))
  await service.upkeep.current()
  const list = sorted(service)
  if (fits) return page(c, list.cases.filter(fits))
  if (c.req.query('limit') !== undefined || c.req.query('cursor') !== undefined)
    return page(c, list.cases)
  list.bytes ??= new TextEncoder().encode(JSON.stringify(list.cases))
  return page(c, list.cases, { bytes: list.bytes })
}

function sorted(service: HttpNeeds): SortedList {
  const version = service.catalog.version()
  const known = lists.get(service)
  if (known?.version === version) return known
  const folders = service.catalog.ids().map((id) => service.catalog.folder(id) as CaseFolder)
  const cases = folders.map((folder) => caseJson(service, folder)).sort(newestFirst)
  const list = { version, cases, bytes: null }
  lists.set(service, list)
  return list
}
