import type { HooksReport } from '../../hook-settings/status.ts'
import { hookLines, INSTALLED } from '../../hook-settings/status-text.ts'
import type { ConversationJson } from '../../http/schemas/conversation.ts'
import { isUngated } from '../../model/ungated-conversation.ts'
import { visibleText } from '../../model/visible-text.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'

interface Heard {
  /** The running service; null without one. */
  url: string | null
  conversations: readonly ConversationJson[]
}

/** What `casefile hooks status` says. */
export function hooksText(
  report: HooksReport,
  { url, conversations }: Heard,
  { width }: Pick<Terminal, 'width'>,
): string {
  const rows = report.hooks.map(({ agent, place, file, installed, is_strict }) => [
    { text: agent },
    { text: place },
    { text: INSTALLED[installed] + (is_strict ? ', strict' : '') },
    { text: lastHeard(agent, conversations) },
    { text: visibleText(file) },
  ])
  const lines = [
    ...(rows.length === 0 ? ['No hooks are installed.'] : []),
    url === null
      ? 'No service runs, so installed hooks deny every tool. Start one with: casefile serve'
      : `The service answers at ${url}.`,
    ...hookLines(report),
    ...conversations.filter((each) => isUngated(each)).map(ungatedText),
  ]
  const top = rows.length === 0 ? '' : `${table(rows, { width: width(), cuts: [[4, 12]] })}\n`
  return top + lines.map((line) => `${line}\n`).join('')
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
