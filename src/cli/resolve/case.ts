import type { ApiReader } from '../../client/client.ts'
import { Refusal } from '../../model/refusal.ts'
import { visibleText } from '../../model/visible-text.ts'
import { UUID } from '../../model/words.ts'
import { EXIT, exiting } from '../output/exit-codes.ts'

export interface NamedCase {
  id: string
  title: string
  state: string
}

const MAX_NAMED = 10

/**
 * The id of the case that a word names: its id, a beginning of it, or a part of the title, whatever
 * its case. Refuses where none or several fit; `shown` says to who asked what lists them all.
 */
export async function resolveCase(
  client: ApiReader,
  word: string,
  shown = 'casefile list --all',
): Promise<string> {
  if (UUID.test(word)) return word // the next request says whether it is there
  const { body } = await client.request('GET', '/cases')
  const fitting = casesFitting(body, word)
  if (fitting.length === 1) return fitting[0]!.id
  throw exiting(
    EXIT.unknown,
    fitting.length === 0 ? noneFits(word, shown) : severalFit(word, fitting),
  )
}

/** An exact title before all others; else beginnings of ids and parts of titles alike. */
export function casesFitting(cases: readonly NamedCase[], word: string): NamedCase[] {
  const wanted = word.trim().toLowerCase()
  if (wanted === '') return []
  const exact = cases.filter(({ title }) => title.toLowerCase() === wanted)
  if (exact.length > 0) return exact
  return cases.filter(
    ({ id, title }) => id.startsWith(wanted) || title.toLowerCase().includes(wanted),
  )
}

function noneFits(word: string, shown: string): Refusal {
  return new Refusal(
    'not_found',
    `No case is named by "${visibleText(word)}": expected an id, its beginning, or a part of a title. ${shown} shows them.`,
  )
}

function severalFit(word: string, fitting: NamedCase[]): Refusal {
  const named = fitting.slice(0, MAX_NAMED)
  const width = Math.max(...named.map(({ state }) => state.length))
  const lines = named.map(
    ({ id, title, state }) => `  ${id.slice(0, 8)}  ${state.padEnd(width)}  ${visibleText(title)}`,
  )
  const more = fitting.length > MAX_NAMED ? [`  and ${fitting.length - MAX_NAMED} more`] : []
  const candidates = fitting.map(({ id, title, state }) => ({ id, title, state }))
  return new Refusal(
    'not_found',
    [
      `"${visibleText(word)}" could be any of ${fitting.length} cases. Name one by more of its id or title:`,
      ...lines,
      ...more,
    ].join('\n'),
    { extra: { candidates } },
  )
}
