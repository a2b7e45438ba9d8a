import type { CaseState } from '../model/case-state.ts'

/** A case as the index lists it. */
export interface IndexRow {
  id: string
  title: string
  created_at: string
  /** The state that the pages show. */
  state: CaseState
  type: string
  outcome: string | null
  /** What the case needs from the operator, in a few words; empty if it needs nothing. */
  needs: string
  problems: number
}

/** The first line of every index that the service writes; it identifies the file as derived. */
export const INDEX_MARKER = '<!-- derived by casefile: edits are lost -->'

const MAX_TITLE = 200
const MAX_NEEDS = 200
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/** Direction marks, which can reverse the rest of a line. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
/**
 * Characters that have a meaning within a cell. GFM turns bare addresses into links at `:`, `@` and
 * `www.`.
 */
const SPECIAL = /[\\`*_[\]<>|~&@$]|:(?=\/\/)|(?<=\bwww)\./gi

/**
 * The head of the page. The parts are built one by one, because a page of 50,000 lines takes too
 * long in one go.
 */
export function indexTop(cases: number, needing: number, withProblems: number): string {
  const count = cases === 1 ? '1 case' : `${cases} cases`
  const need = needing === 1 ? '1 needs you' : `${needing} need you`
  return `${INDEX_MARKER}\n\n# Cases\n\n${count}, ${need}, ${withProblems} with problems.\n`
}

/** The head of a state's table; the tables follow the order of the states. */
export function indexTableTop(state: CaseState, cases: number): string {
  const head =
    '| Case | Type | Outcome | Needs you | Problems |\n| --- | --- | --- | --- | ---: |\n'
  return `\n## ${state} (${cases})\n\n${head}`
}

/** A table row. Callers write the newest case first. */
export function indexLine({ id, title, ...row }: IndexRow): string {
  const link = `[${cell(title, MAX_TITLE) || id}](cases/${id}/case.md)`
  const [type, outcome, needs] = [row.type, row.outcome ?? '', row.needs]
  const cells = [link, cell(type), cell(outcome), cell(needs, MAX_NEEDS), row.problems || '']
  return `| ${cells.join(' | ')} |\n`
}

/** Text that needs no escaping, as in most cells: plain words with one space between them. */
const PLAIN = /^[A-Za-z0-9(){}"'+=%;,/!?-]+(?: [A-Za-z0-9(){}"'+=%;,/!?-]+)*$/

/** Escapes a text into one line of a table cell. */
function cell(text: string, most = 100): string {
  if (text === '' || (text.length <= most && PLAIN.test(text))) return text
  const clean = text.toWellFormed().replace(CONTROL, ' ').replace(BIDI, '')
  const line = clean.replace(/\s+/g, ' ').trim()
  return (line.length > most ? cut(line, most) : line).replace(SPECIAL, '\\$&')
}

/** Cuts between code points, because some take two UTF-16 units. */
function cut(line: string, most: number): string {
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
}
