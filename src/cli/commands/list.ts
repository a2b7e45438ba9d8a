import { Command } from 'commander'
import { partOfList } from '../../client/pages.ts'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import { ATTENTION_KINDS, isClosedState } from '../../model/attention.ts'
import { FILTERED, type FilterName } from '../../model/case-fields.ts'
import {
  NEED_LABELS,
  needYouText,
  STATE_GROUP_LABELS,
  STATE_GROUP_TONES,
  stateGroup,
  type Tone,
} from '../../model/state-groups.ts'
import { visibleText } from '../../model/visible-text.ts'
import { countOption, explain, listOption } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { filterOptions, meantValues } from '../field-options.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { type Cell, table } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'
import { ago } from '../output/times.ts'

interface Options extends CommandOptions, Partial<Record<FilterName, string[]>> {
  needs?: string[]
  limit?: number
  all?: boolean
}

export function command(): Command {
  const list = new Command('list')
    .description('List cases, those that need you first.')
    .argument('[search]', 'Words of the cases, as in casefile search.')
  for (const option of filterOptions()) list.addOption(option)
  list
    .addOption(
      listOption(
        '--needs <kind>',
        `Only cases that need this: any, ${ATTENTION_KINDS.join(', ')}.`,
      ),
    )
    .addOption(
      countOption(
        '--limit <n>',
        'Maximum number of cases. Default: 30 in a terminal, all when piped.',
      ),
    )
    .option('--all', 'All cases, closed ones too.')
    .action((search: string | undefined, options: Options) =>
      withReader(options, (context) => run(context, options, search)),
    )
  return explain(list, {
    examples: [
      ['casefile list', 'Open cases.'],
      ['casefile list --needs plan,gate_open', 'Cases that wait for a decision.'],
      ['casefile list --state RESOLVED --json', 'Use it in a script.'],
      ['casefile list --all | cut -f 1,5', 'Id and title, separated by a tab.'],
    ],
    more: 'Filters take several values, separated by commas. Piped, each case is one line of fields, separated by tabs: id, group, state, outcome, title, type, needs, last change.',
  })
}

async function run(
  context: ReadContext,
  { limit, all, ...filters }: Options,
  search: string | undefined,
): Promise<ExitCode> {
  const { client, terminal, json } = context
  const { state, outcome, needs } = filters
  const hidesClosed = !(all || state || outcome)
  const most = limit ?? (all || json || !terminal.isTerminal ? undefined : IN_TERMINAL)
  const ofFields = FILTERED.map((field) => {
    const typed = filters[field.filter as FilterName]
    return [field.filter, typed?.flatMap((text) => meantValues(field, text))]
  })
  const wanted: Record<string, string[] | undefined> = {
    ...Object.fromEntries(ofFields),
    needs,
    q: search === undefined ? [] : [search],
  }
  const query = new URLSearchParams(
    Object.entries(wanted).flatMap(([key, values]) =>
      values?.length ? [[key, values.join(',')] as [string, string]] : [],
    ),
  )
  const [{ rows, total }, everything, needing] = await Promise.all([
    triage(client, hidesClosed ? withParameter(query, 'open', 'true') : query, most),
    hidesClosed ? triage(client, query, 1) : null,
    triage(client, new URLSearchParams({ needs: 'any' }), 1),
  ])
  if (json) {
    terminal.print(jsonText(rows))
    return EXIT.done
  }
  terminal.print(terminal.isTerminal ? listText(rows, terminal) : tabbed(rows))
  if (needing.total > 0) terminal.say(needYouText(needing.total))
  if (rows.length < total) {
    terminal.say(`Showing ${rows.length} of ${total}. Show all with --all, or more with --limit.`)
  }
  const hidden = (everything?.total ?? total) - total
  if (total === 0) terminal.say(hidden === 0 ? nothing(query.size > 0) : 'no open case')
  if (hidden > 0) terminal.say(`${hidden} closed ${hidden === 1 ? 'case' : 'cases'}, with --all`)
  return EXIT.done
}

const IN_TERMINAL = 30
async function triage(
  client: ReadContext['client'],
  query: URLSearchParams,
  most: number | undefined,
): Promise<{ rows: TriageRowJson[]; total: number }> {
  const { items, total } = await partOfList<TriageRowJson>(client, `/triage?${query}`, {
    limit: most,
  })
  return { rows: items, total }
}

function withParameter(query: URLSearchParams, name: string, value: string): URLSearchParams {
  return new URLSearchParams([...query, [name, value]])
}

function nothing(isFiltered: boolean): string {
  return isFiltered ? 'no matching case' : 'no cases yet\nNext: casefile new "What is wrong"'
}

/** For programs: uncut, without a header. */
function tabbed(rows: readonly TriageRowJson[]): string {
  return rows
    .map(({ id, state, outcome, title, type, needs, updated_at }) => [
      id,
      groupLabel(state, needs),
      state,
      outcome ?? '',
      title,
      type,
      needs?.text ?? '',
      updated_at,
    ])
    .map((fields) => `${fields.map(visibleText).join('\t')}\n`)
    .join('')
}

/** From this width on, the table has columns for the exact state and for the last change. */
const WIDE = 100

/** The columns of a narrow table come first. */
const [GROUP, TITLE, REASON, STATE] = [1, 2, 3, 4]
const NARROW = 4
const HEADER = ['CASE', 'STATUS', 'TITLE', 'NEEDS', 'STATE', 'CHANGED']

/** A table for a terminal. The title gets at least a third of the width. */
export function listText(
  rows: readonly TriageRowJson[],
  { color, width: columns }: Pick<Terminal, 'color' | 'width'>,
): string {
  if (rows.length === 0) return ''
  const width = columns()
  const header = HEADER.map((text): Cell => ({ text, paint: color.dim }))
  const all = [header, ...rows.map((row) => cellsOf(row, color))]
  const cells = width < WIDE ? all.map((row) => row.slice(0, NARROW)) : all
  return table(cells, {
    width,
    cuts: [
      [REASON, 16],
      [TITLE, Math.floor(width / 3)],
      [STATE, 9],
      [REASON, 7],
      [TITLE, 12],
      [GROUP, 8],
      [REASON, 0],
    ],
  })
}

function cellsOf(
  { id, state, outcome, title, needs, problems, updated_at }: TriageRowJson,
  color: Terminal['color'],
): Cell[] {
  const tone = paintOf(STATE_GROUP_TONES[stateGroup(state, needs?.kind ?? null)], color)
  const isBad = needs?.kind === 'failed' || needs?.kind === 'problem'
  const exact = outcome && isClosedState(state) ? `${state} ${visibleText(outcome)}` : state
  return [
    { text: id.slice(0, 8), paint: color.cyan },
    { text: groupLabel(state, needs), paint: tone },
    { text: visibleText(title), paint: isClosedState(state) ? color.dim : color.bold },
    {
      text: needs ? visibleText(needs.text) : '',
      short: needs
        ? NEED_LABELS[needs.kind] + (needs.kind === 'plan' && problems > 0 ? ', problem' : '')
        : '',
      paint: isBad ? color.red : tone,
    },
    { text: exact, short: state, paint: color.dim },
    { text: ago(updated_at), paint: color.dim },
  ]
}

function groupLabel(state: TriageRowJson['state'], needs: TriageRowJson['needs']): string {
  return STATE_GROUP_LABELS[stateGroup(state, needs?.kind ?? null)]
}

function paintOf(tone: Tone, color: Terminal['color']): (text: string) => string {
  switch (tone) {
    case 'warn':
      return color.yellow
    case 'info':
      return color.magenta
    case 'active':
      return color.blue
    case 'muted':
      return color.dim
    case 'good':
      return color.green
    case 'plain':
      return (text) => text
    default:
      return tone satisfies never
  }
}
