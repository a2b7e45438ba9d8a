import type { ConversationJson } from '../../http/schemas/conversation.ts'
import { type NotUnderstood, notUnderstoodText } from '../../model/not-understood.ts'
import { isUngated } from '../../model/ungated-conversation.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { LeveledReport } from '../../runners/agents/install/levels.ts'
import { hookLines, levelText, levelWord } from '../../runners/agents/install/status-text.ts'
import type { Heard } from '../heard.ts'
import { stringWidth } from './screen-width.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'
import { wrapped } from './wrapped.ts'

/** What `casefile agent status` says. */
export function hooksText(
  report: LeveledReport,
  { url, conversations, not_understood }: Heard,
  { width }: Pick<Terminal, 'width'>,
): string {
  const columns = width()
  const cells = report.hooks.map(({ agent, place, level, is_strict, tested_at }) => [
    { text: agent },
    { text: place },
    { text: levelWord(level) + (is_strict ? ', strict' : '') },
    { text: tested_at === null ? '' : `tested ${ago(tested_at)}` },
    { text: lastHeard(agent, conversations) },
  ])
  const files = report.hooks.map(({ file }) => visibleText(file))
  const inOne = table(cells.map((row, at) => [...row, { text: files[at]! }]))
  const isWide = inOne.split('\n').every((line) => stringWidth(line) <= columns)
  // a path is of use only in full
  const below = () => cells.map((row, at) => `${table([row])}  ${files[at]}\n`).join('')
  const lines = [
    ...(cells.length === 0 ? ['No hooks are installed.'] : []),
    url === null
      ? 'No service runs, so installed hooks deny every tool. Start one with: casefile serve'
      : `The service answers at ${url}.`,
    ...hookLines(report),
    ...not_understood.map(notUnderstoodLine),
    ...conversations.filter((each) => hasCase(each) && isUngated(each)).map(ungatedText),
    ...conversations.filter(isUnbound).map(unboundText),
  ]
  const top = cells.length === 0 ? '' : `${isWide ? inOne : below()}\n`
  return top + lines.map((line) => `${wrapped(line, columns, '  ')}\n`).join('')
}

/** What `casefile agent test` says. */
export function testText({ hooks }: Pick<LeveledReport, 'hooks'>, width: number): string {
  const lines = hooks.map((each) => {
    const { agent, place, version, version_note } = each
    const which = version_note ?? version ?? ''
    return visibleText(`${agent} (${place}${which && `, ${which}`}): ${levelText(each)}`)
  })
  return lines.map((line) => `${wrapped(line, width, '  ')}\n`).join('')
}

/** What has no case is not gated, however its hooks are; one that was never heard may still get a case. */
const hasCase = ({ case_id, last_heard_at }: ConversationJson) =>
  case_id !== null || last_heard_at === null

/** Whether it goes on without a case, or with one that is over. */
const isUnbound = ({ case_id, needs_case, is_running }: ConversationJson) =>
  is_running && (case_id === null || needs_case)

function unboundText({ id, agent, folder, needs_case, started_at }: ConversationJson): string {
  const where = folder === '.' ? 'the workspace' : visibleText(folder)
  if (needs_case) {
    return `${agent}: the case of conversation ${id.slice(0, 8)} in ${where} was closed or deleted, so it may only read. casefile agent use <case>, or casefile agent use --none, changes that.`
  }
  return `${agent}: conversation ${id.slice(0, 8)} in ${where}, begun ${ago(started_at)}, has no case: nothing of it is recorded or held back. casefile agent adopt ${id.slice(0, 8)} <case> changes that.`
}

function notUnderstoodLine(call: NotUnderstood): string {
  const times = call.count === 1 ? '' : `${call.count} times, last `
  return `${visibleText(notUnderstoodText(call))} Heard ${times}${ago(call.last_at)}.`
}

function lastHeard(agent: string, conversations: readonly ConversationJson[]): string {
  const times = conversations.flatMap((each) =>
    each.agent === agent && each.last_heard_at !== null ? each.last_heard_at : [],
  )
  const newest = times.sort().at(-1)
  return newest === undefined ? 'never heard' : `heard ${ago(newest)}`
}

function ungatedText({ id, agent, started_at, last_heard_at }: ConversationJson): string {
  const what = last_heard_at === null ? 'no hook was heard' : 'no call of a tool was heard'
  return `${agent}: conversation ${id.slice(0, 8)} is not gated: ${what} since it began ${ago(started_at)}.`
}
