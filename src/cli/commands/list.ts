import type { ChalkInstance } from 'chalk'
import { type AttentionKind, isClosed } from '../../model/attention.ts'
import type { CaseState } from '../../model/case-state.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import type { Terminal } from '../output/terminal.ts'
import { jsonText } from '../output/json.ts'
import { type Cell, table } from '../output/table.ts'
import { ago } from '../output/times.ts'

export interface ListOptions extends ConsoleOptions {
  state?: string[]
  type?: string[]
  tag?: string[]
  outcome?: string[]
  needs?: string[]
  all?: boolean
}

interface Row {
  id: string
  title: string
  type: string
  state: CaseState
  outcome: string | null
  updated_at: string
  needs: { kind: AttentionKind; text: string } | null
}

/** `casefile list`: the cases, what needs the operator first. Closed ones only where they are asked for. */
export async function list(
  { client, terminal, json }: ReadingConsole,
  { state, type, tag, outcome, needs, all }: ListOptions,
  search: string | undefined,
): Promise<ExitCode> {
  const wanted = { state, type, tag, outcome, needs, q: search === undefined ? [] : [search] }
  const query = new URLSearchParams(
    Object.entries(wanted).flatMap(([key, values]) =>
      values?.length ? [[key, values.join(',')] as [string, string]] : [],
    ),
  )
  const { body } = await client.request('GET', `/triage${query.size > 0 ? `?${query}` : ''}`)
  const rows = body as Row[]
  const isWhole = all || state !== undefined || outcome !== undefined
  const shown = isWhole ? rows : rows.filter(({ state, needs }) => needs || !isClosed(state))
  if (json) {
    terminal.print(jsonText(shown))
    return EXIT.done
  }
  terminal.print(await tableOf(shown, terminal))
  const hidden = rows.length - shown.length
  if (shown.length === 0) terminal.say(rows.length === 0 ? nothing(query.size > 0) : 'no open case')
  if (hidden > 0) terminal.say(`${hidden} closed ${hidden === 1 ? 'case' : 'cases'}, with --all`)
  return EXIT.done
}

/** Wide enough to tell of the last change too. */
const WIDE = 100

/** The title gets half of the width at least: the reason gives way first. */
function tableOf(
  rows: readonly Row[],
  { color, isTerminal, width: columns }: Terminal,
): Promise<string> {
  const width = columns()
  const cells = rows.map((row) => cellsOf(row, color, isTerminal))
  const half = Math.floor(width / 2)
  return table(width < WIDE ? cells.map((row) => row.slice(0, -1)) : cells, {
    width,
    cuts: [
      [REASON, 13],
      [STATE, 13],
      [TITLE, half],
      [REASON, 0],
      [TITLE, 12],
    ],
  })
}

function nothing(isFiltered: boolean): string {
  return isFiltered
    ? 'no such case'
    : 'no case yet; make one with: casefile new "what is to be done"'
}

const [STATE, TITLE, REASON] = [1, 2, 3]

function cellsOf(row: Row, color: ChalkInstance, isTerminal: boolean): Cell[] {
  const state =
    row.outcome && isClosed(row.state) ? `${row.state} ${visibleText(row.outcome)}` : row.state
  const need = row.needs
  return [
    { text: row.id.slice(0, 8), paint: color.cyan },
    { text: state, short: row.state, paint: isClosed(row.state) ? color.dim : color.reset },
    { text: visibleText(row.title), paint: color.bold },
    {
      text: need ? visibleText(need.text) : '',
      ...(need ? shownAs(need, color) : {}),
    },
    { text: isTerminal ? ago(row.updated_at) : row.updated_at, paint: color.dim },
  ]
}

function shownAs(need: NonNullable<Row['needs']>, color: ChalkInstance): Omit<Cell, 'text'> {
  const short = shortOf(need)
  return { paint: paintOf(need.kind, color), ...(short === null ? {} : { short }) }
}

/** The same reason in a narrow column; null where it is cut instead. */
function shortOf({ kind, text }: NonNullable<Row['needs']>): string | null {
  switch (kind) {
    case 'plan':
      return 'plan waits'
    case 'blocked':
      return visibleText(text.replace(/^[^:]*: /, '')) // the state says the rest
    case 'failed':
      return 'failed'
    case 'proof':
      return 'needs proof'
    case 'gate_open':
      return 'gate open'
    case 'running':
      return 'running'
    case 'problem':
      return null
    default:
      return kind satisfies never
  }
}

function paintOf(kind: AttentionKind, color: ChalkInstance): ChalkInstance {
  switch (kind) {
    case 'plan':
      return color.yellow
    case 'problem':
    case 'blocked':
    case 'failed':
      return color.red
    case 'proof':
      return color.magenta
    case 'gate_open':
      return color.green
    case 'running':
      return color.blue
    default:
      return kind satisfies never
  }
}
