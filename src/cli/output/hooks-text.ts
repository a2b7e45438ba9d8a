import { FAILS_OPEN, type HookStatus, type HooksReport } from '../../hook-settings/status.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { ConversationJson } from './conversation-table.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'

interface Heard {
  /** The running service; null without one. */
  url: string | null
  conversations: readonly ConversationJson[]
}

const INSTALLED: Record<HookStatus['installed'], string> = {
  current: 'installed',
  older: 'older version',
  changed: 'changed by hand',
  unreadable: 'unreadable',
}

/** What `casefile hooks status` and `casefile doctor` say. */
export function hooksText(
  { hooks, missing, warnings }: HooksReport,
  { url, conversations }: Heard,
  { width }: Pick<Terminal, 'width'>,
): string {
  const rows = hooks.map(({ agent, place, file, installed, is_strict }) => [
    { text: agent },
    { text: place },
    { text: INSTALLED[installed] + (is_strict ? ', strict' : '') },
    { text: lastHeard(agent, conversations) },
    { text: visibleText(file) },
  ])
  const stale = hooks.filter(({ installed }) => installed === 'older' || installed === 'changed')
  const lines = [
    ...(hooks.length === 0 ? ['No hooks are installed.'] : []),
    url === null
      ? 'No service runs, so installed hooks deny every tool. Start one with: casefile serve'
      : `The service answers at ${url}.`,
    ...warnings,
    ...hooks.flatMap(({ agent, warnings }) => warnings.map((each) => `${agent}: ${each}`)),
    ...stale.map(
      ({ agent, place }) => `${agent}: renew it with: casefile hooks install ${agent} --${place}`,
    ),
    ...missing.map((agent) => `${agent}: not gated. Gate it with: casefile hooks install ${agent}`),
    ...conversations.filter(isUngated).map(ungatedText),
    ...new Set(
      hooks.map(({ agent }) => `${agent}: runs a tool without an answer ${FAILS_OPEN[agent]}.`),
    ),
  ]
  const top = hooks.length === 0 ? '' : `${table(rows, { width: width(), cuts: [[4, 12]] })}\n`
  return `${top}${lines.map((line) => `${visibleText(line)}\n`).join('')}`
}

function lastHeard(agent: string, conversations: readonly ConversationJson[]): string {
  const times = conversations.flatMap((each) =>
    each.agent === agent && each.last_heard_at !== null ? each.last_heard_at : [],
  )
  const newest = times.sort().at(-1)
  return newest === undefined ? 'never heard' : `heard ${ago(newest)}`
}

/** A conversation that should be gated, and of which no hook that can deny was heard. */
function isUngated({ is_gated, ended_at, last_heard_at, prompts }: ConversationJson): boolean {
  return !is_gated && ended_at === null && (last_heard_at === null || prompts > 1)
}

function ungatedText({ id, agent, started_at, last_heard_at }: ConversationJson): string {
  const what = last_heard_at === null ? 'no hook was heard' : 'no call of a tool was heard'
  return `${agent}: conversation ${id.slice(0, 8)} is not gated: ${what} since it began ${ago(started_at)}.`
}
