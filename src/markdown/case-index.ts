import type { CaseState } from '../model/case-state.ts'

/** What the index says of a case. */
export interface IndexRow {
  id: string
  title: string
  created_at: string
  /** The shown one. */
  state: CaseState
  type: string
  outcome: string | null
  /** What it needs from the operator, in a few words; empty where it needs nothing. */
  needs: string
  problems: number
}

/** The first line of an index, by which the service knows its own. */
export const INDEX_MARKER = '<!-- derived by casefile: edits are lost -->'

const MAX_TITLE = 200
const MAX_NEEDS = 200
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/** They turn the rest of a line around. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
/** What can begin or end something within a cell; GFM links bare addresses at `:`, `@` and `www.`. */
const SPECIAL = /[\\`*_[\]<>|~&@$]|:(?=\/\/)|(?<=\bwww)\./gi

/** What the page begins with. Its parts are made one by one, as a page of 50,000 lines takes too long at once. */
export function indexTop(cases: number, needing: number, withProblems: number): string {
  const count = cases === 1 ? '1 case' : `${cases} cases`
  const need = needing === 1 ? '1 needs you' : `${needing} need you`
  return `${INDEX_MARKER}\n\n# Cases\n\n${count}, ${need}, ${withProblems} with problems.\n`
}

/** What the table of a state begins with; the tables come in the order of the states. */
export function indexTableTop(state: CaseState, cases: number): string {
  const head =
    '| Case | Type | Outcome | Needs you | Problems |\n| --- | --- | --- | --- | ---: |\n'
  return `\n## ${state} (${cases})\n\n${head}`
}

/** In each table the newest case comes first. */
export function indexLine({ id, title, ...row }: IndexRow): string {
  const link = `[${cell(title, MAX_TITLE) || id}](cases/${id}/case.md)`
  const [type, outcome, needs] = [row.type, row.outcome ?? '', row.needs]
  const cells = [link, cell(type), cell(outcome), cell(needs, MAX_NEEDS), row.problems || '']
  return `| ${cells.join(' | ')} |\n`
}

/** Most cells need nothing: words of characters that mean nothing in a table, one space between them. */
const PLAIN = /^[A-Za-z0-9(){}"'+=%;,/!?-]+(?: [A-Za-z0-9(){}"'+=%;,/!?-]+)*$/

/** Any text as one line of a table cell that shows just that text. */
function cell(text: string, most = 100): string {
  if (text === '' || (text.length <= most && PLAIN.test(text))) return text
  const clean = text.toWellFormed().replace(CONTROL, ' ').replace(BIDI, '')
  const line = clean.replace(/\s+/g, ' ').trim()
  return (line.length > most ? cut(line, most) : line).replace(SPECIAL, '\\$&')
}

/** Between characters, of which some are two units of a string. */
function cut(line: string, most: number): string {
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
}
