import type { CaseState } from '../model/case-state.ts'
import { needYouText } from '../model/state-groups.ts'
import type { TriageRow } from '../model/triage-row.ts'

type IndexRow = Pick<TriageRow, 'id' | 'title' | 'type' | 'outcome' | 'needs' | 'problems'>

/** The first line of the index file, by which the service recognizes it. */
export const INDEX_MARKER = '<!-- derived by casefile: edits are lost -->'

const MAX_TITLE = 200
const MAX_NEEDS = 200
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/** Characters that change the text direction of a line. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
/** Characters with a meaning in a table cell; GFM makes links of addresses at `:`, `@` and `www.`. */
const SPECIAL = /[\\`*_[\]<>|~&@$]|:(?=\/\/)|(?<=\bwww)\./gi

/** Returns the top of the page. The parts are built separately, as a page of 50,000 lines takes too long at once. */
export function indexTop(cases: number, needing: number, withProblems: number): string {
  const count = cases === 1 ? '1 case' : `${cases} cases`
  return `${INDEX_MARKER}\n\n# Cases\n\n${count}, ${needYouText(needing)}, ${withProblems} with problems.\n`
}

/** Returns the top of the table of a state; tables are in state order. */
export function indexTableTop(state: CaseState, cases: number): string {
  const head = '| Case | Type | Outcome | Needs | Problems |\n| --- | --- | --- | --- | ---: |\n'
  return `\n## ${state} (${cases})\n\n${head}`
}

/** Returns the line of a case; in each table the newest case is first. */
export function indexLine({ id, title, ...row }: IndexRow): string {
  const link = `[${cell(title, MAX_TITLE) || id}](cases/${id}/case.md)`
  const [type, outcome] = [row.type, row.outcome ?? ''].map((text) => cell(text))
  const cells = [link, type, outcome, cell(needOf(row), MAX_NEEDS), row.problems || '']
  return `| ${cells.join(' | ')} |\n`
}

/** What a case waits for, in a few words; empty if for nothing. */
function needOf({ needs }: Pick<IndexRow, 'needs'>): string {
  return needs === null || needs.kind === 'running' ? '' : needs.text
}

/** Most cells match this and need no escaping. */
const PLAIN = /^[A-Za-z0-9(){}"'+=%;,/!?-]+(?: [A-Za-z0-9(){}"'+=%;,/!?-]+)*$/

/** Escapes any text as one line of a table cell. */
function cell(text: string, most = 100): string {
  if (text === '' || (text.length <= most && PLAIN.test(text))) return text
  const clean = text.toWellFormed().replace(CONTROL, ' ').replace(BIDI, '')
  const line = clean.replace(/\s+/g, ' ').trim()
  return (line.length > most ? cut(line, most) : line).replace(SPECIAL, '\\$&')
}

/** Cuts between characters, as some have two UTF-16 units. */
function cut(line: string, most: number): string {
  const characters = [...line]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : line
}
