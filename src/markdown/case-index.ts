import { CASE_STATES, type CaseState } from '../model/case-state.ts'
import { byCreation } from '../model/proof.ts'

/** What the index says of a case. */
export interface IndexRow {
  id: string
  title: string
  created_at: string
  /** The shown one. */
  state: CaseState
  type: string
  outcome: string | null
  problems: number
}

/** A row as the line of a table that it becomes, with what puts it in its place. */
export type IndexEntry = Pick<IndexRow, 'id' | 'created_at' | 'state' | 'problems'> & {
  line: string
}

/** The first line of an index, by which the service knows its own. */
export const INDEX_MARKER = '<!-- derived by casefile: edits are lost -->'

const MAX_TITLE = 200
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/** They turn the rest of a line around. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
/** What can begin or end something within a cell; GFM links bare addresses at `:`, `@` and `www.`. */
const SPECIAL = /[\\`*_[\]<>|~&@$]|:(?=\/\/)|(?<=\bwww)\./gi

/** Separate from the page, so that 10,000 of them can be made in slices. */
export function indexEntry({ id, title, created_at, state, ...row }: IndexRow): IndexEntry {
  const link = `[${cell(title, MAX_TITLE) || id}](cases/${id}/case.md)`
  const cells = [link, cell(row.type), cell(row.outcome ?? ''), row.problems || '']
  return { id, created_at, state, problems: row.problems, line: `| ${cells.join(' | ')} |\n` }
}

/** A table for each state that has cases, in the order of the states; the newest case first. */
export function indexPage(entries: readonly IndexEntry[]): string {
  const wrong = entries.filter(({ problems }) => problems > 0).length
  const count = entries.length === 1 ? '1 case' : `${entries.length} cases`
  const sections = CASE_STATES.map((state) => {
    const found = entries.filter((entry) => entry.state === state).sort((a, b) => byCreation(b, a))
    const head = '| Case | Type | Outcome | Problems |\n| --- | --- | --- | ---: |\n'
    const lines = found.map(({ line }) => line).join('')
    return found.length ? `\n## ${state} (${found.length})\n\n${head}${lines}` : ''
  })
  return `${INDEX_MARKER}\n\n# Cases\n\n${count}, ${wrong} with problems.\n${sections.join('')}`
}

/** Any text as one line of a table cell that shows just that text. */
function cell(text: string, most = 100): string {
  const clean = text.toWellFormed().replace(CONTROL, ' ').replace(BIDI, '')
  const characters = [...clean.replace(/\s+/g, ' ').trim()]
  const short = characters.length > most ? [...characters.slice(0, most - 1), '…'] : characters
  return short.join('').replace(SPECIAL, '\\$&')
}
