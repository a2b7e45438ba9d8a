import type { CaseFolder } from '../model/case-folder.ts'
import type { ServiceContext } from './context.ts'
import type { HttpNeeds } from './needs.ts'
import { newestFirst, page } from './page.ts'
import { knownState } from './params.ts'
import { type CaseJson, caseJson } from './present.ts'

interface SortedList {
  version: number
  cases: CaseJson[]
  bytes: Uint8Array | null
}

const lists = new WeakMap<HttpNeeds, SortedList>()

/** The list of cases, newest first; its order and its bytes are kept until something changes. */
export async function caseList(service: HttpNeeds, c: ServiceContext): Promise<Response> {
  const fits = filterOf(c)
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

/** `state=A,B`, `outcome=`, `type=`, `tag=` name values, `q=` a text; null when none is given. */
function filterOf(c: ServiceContext): ((each: CaseJson) => boolean) | null {
  const values = (name: string) =>
    c.req
      .query(name)
      ?.split(',')
      .filter((value) => value !== '')
  const states = values('state')?.map(knownState)
  const [outcomes, types, tags] = [values('outcome'), values('type'), values('tag')]
  const text = c.req.query('q')?.toLowerCase()
  const has = (wanted: string[] | undefined, value: string | null) =>
    !wanted?.length || (value !== null && wanted.includes(value))
  if (![states, outcomes, types, tags].some((wanted) => wanted?.length) && !text) return null
  return (each) =>
    has(states, each.state) &&
    has(outcomes, each.outcome) &&
    has(types, each.type) &&
    (!tags?.length || each.tags.some((tag) => tags.includes(tag))) &&
    (!text || `${each.title}\n${each.description}`.toLowerCase().includes(text))
}
