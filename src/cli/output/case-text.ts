import type { TriageRowJson } from '../../http/schemas/case.ts'
import type { SessionHeadJson } from '../../http/schemas/session.ts'
import { FIELD_LIST } from '../../model/case-fields.ts'
import type { CaseState } from '../../model/case-state.ts'
import { providerText } from '../../model/session.ts'
import { durationsText } from '../../model/session-durations.ts'
import { STATE_GROUP_LABELS, stateGroup } from '../../model/state-groups.ts'
import { usageText, usageTotal } from '../../model/usage.ts'
import { visibleText } from '../../model/visible-text.ts'
import { layoutOf } from '../../workspace/layout.ts'
import type { ReadContext } from '../context.ts'
import type { WholeCase } from '../resolve/whole-case.ts'
import { commentCountsText } from './comment-text.ts'
import { gateText } from './gate-text.ts'
import { historyText } from './history-text.ts'
import { proofTable } from './proof-text.ts'
import { shownLine } from './shown-line.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'
import { wrapped } from './wrapped.ts'

/** A case for people: its fields, its description, and a section for each kind of related thing. */
export function caseText(
  whole: WholeCase,
  needs: TriageRowJson['needs'],
  { terminal, workspace }: Pick<ReadContext, 'terminal' | 'workspace'>,
): string {
  const { color } = terminal
  const { description, problems, sessions, proof, memory } = whole
  const folder = layoutOf(workspace.root, workspace.memoryRoot).caseFolder(whole.id)
  const part = (title: string, text: string) =>
    text === '' ? '' : `\n${color.bold(title)}\n${text.replace(/^(?=.)/gm, '  ')}`
  const lines = description
    .trim()
    .split(/\r\n|\n|\r/)
    .map((line) => `${wrapped(shownLine(line), terminal.width() - 2)}\n`)
  return [
    `${color.bold(visibleText(whole.title))}\n`,
    table(fields(whole, needs, folder, terminal)),
    part('Description', description.trim() === '' ? '' : lines.join('')),
    part('Problems', problems.map(problemLine).join('')),
    part('Proof checklist', gateText(whole.gate, terminal)),
    part('Sessions', sessionTable(sessions, terminal)),
    part('Proof', proof.length > 0 ? proofTable(proof, terminal, terminal.width() - 2) : ''),
    part('History', historyText(whole.history.slice(-SHOWN_ACTS), terminal)),
    part('Memory', memory.map(({ filename }) => `${visibleText(filename)}\n`).join('')),
  ].join('')
}

/** The newest entries; `casefile show --history` prints all. */
const SHOWN_ACTS = 8

/** Fields that show the progress come first. Title, description and state are printed elsewhere. */
const SHOWN = [
  ...FIELD_LIST.filter(({ name, setBy }) => setBy && name !== 'state'),
  ...FIELD_LIST.filter(({ kind, setBy, required }) => !setBy && !required && kind !== 'markdown'),
]

function fields(
  whole: WholeCase,
  needs: TriageRowJson['needs'],
  folder: string,
  { isTerminal, color }: Terminal,
) {
  const time = (text: string) => (isTerminal ? ago(text) : text)
  const named: [string, string | null][] = [
    ['id', whole.id],
    [
      'state',
      `${STATE_GROUP_LABELS[stateGroup(whole.state as CaseState, needs?.kind)]} (${whole.state})`,
    ],
    ...SHOWN.map(({ name, label }): [string, string | null] => [
      label.toLowerCase(),
      [whole[name] ?? []].flat().join(', ') || null,
    ]),
    ['agents used', usageText(usageTotal(whole.sessions.flatMap(({ usage }) => usage))) || null],
    ['created', time(whole.created_at)],
    ['updated', time(whole.updated_at)],
    ['folder', folder],
  ]
  return named.flatMap(([name, value]) =>
    value === null ? [] : [[{ text: name, paint: color.dim }, { text: visibleText(value) }]],
  )
}

function problemLine({ code, file, line, message }: WholeCase['problems'][number]): string {
  return `${visibleText(`${file}${line === null ? '' : `:${line}`} ${code}: ${message}`)}\n`
}

const [PROVIDER, DURATIONS] = [3, 6]

function sessionTable(sessions: readonly SessionHeadJson[], terminal: Terminal): string {
  const { color, isTerminal } = terminal
  const rows = sessions.map(({ number, state, ...session }) => [
    { text: String(number), paint: color.cyan },
    { text: state, paint: paintOf(state, color) },
    { text: session.type },
    { text: visibleText(providerText(session)) },
    { text: session.tests ? `${session.tests.passed}/${session.tests.run} tests` : '' },
    { text: commentCountsText(session.comments) },
    {
      text: durationsText(session.durations),
      short: durationsText({ ...session.durations, planned_ms: null, waited_ms: null }),
      paint: color.dim,
    },
    { text: isTerminal ? ago(session.updated_at) : session.updated_at, paint: color.dim },
  ])
  return table(rows, {
    width: terminal.width() - 2,
    cuts: [
      [DURATIONS, 12],
      [PROVIDER, 12],
    ],
  })
}

function paintOf(state: string, color: Terminal['color']) {
  if (state === 'failed') return color.red
  return state === 'plan_ready' ? color.yellow : color.reset
}
