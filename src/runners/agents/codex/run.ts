import type { AgentRetry } from '../../../model/agent-retry.ts'
import type { ToolFacts } from '../../contract.ts'
import { type CommandLine, knownAgent } from '../agent.ts'
import { clauseOf } from '../agent-text.ts'
import { denyClaude } from '../claude/hooks.ts'
import { NETWORK_ENV, OPENAI_ENV } from '../environment.ts'
import type { EventTable, ReportedRun } from '../event-parser.ts'
import { FROM_RECORD, failedOutcome } from '../parser-kit.ts'
import type { ToolResult } from '../readable-output.ts'
import { toolFacts } from '../tool-kinds.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import { CODEX_LOGIN, codexHome } from './home.ts'
import { hookArguments } from './hook-arguments.ts'
import { codexRejection, readCodexRecord, sandboxError } from './record.ts'
import { CODEX_TOOLS } from './tools.ts'
import { codexUsage } from './usage.ts'

const ENV = ['CODEX_HOME', 'CODEX_API_KEY', ...OPENAI_ENV, ...NETWORK_ENV]

function line(...argv: string[]): CommandLine {
  return { argv: ['codex', ...argv], prompt: 'stdin' }
}

// makes it ignore the project's settings, servers, hooks and rules, even if the user's settings trust the project
const UNTRUSTED = ['-c', 'projects={untrusted_projects}']
const END = ['--json', '--skip-git-repo-check', ...UNTRUSTED]
// `resume` accepts no --sandbox
const READ_ONLY = ['-c', 'sandbox_mode="read-only"']

/** Codex, as of 0.169.0. */
export const codex = knownAgent('codex', {
  seen: ['0.169.0', '0.171.0'],
  install: 'npm install -g @openai/codex',
  login: CODEX_LOGIN,
  ownPlaces: (environment) => ({ paths: [codexHome(environment)], files: [] }),
  env: ENV,
  instructions: [['AGENTS.override.md', 'AGENTS.md']],
  readRecord: readCodexRecord,
  planMode: {
    holds: 'sandbox',
    note: 'Its commands run in an operating system sandbox that blocks writes; MCP servers that you configured run outside of it.',
  },
  plan: line('exec', '{args}', ...END, '--sandbox', 'read-only', '-'),
  resume: line('exec', 'resume', '{args}', ...END, ...READ_ONLY, '{session}', '-'),
  work: line('exec', '{args}', ...END, '--sandbox', 'workspace-write', '-'),
  events: codexEvents,
  callHook: {
    tools: CODEX_TOOLS,
    deny: denyClaude,
    start: (command) => ({
      args: hookArguments([
        { event: 'PreToolUse', group: { hooks: [{ type: 'command', command, timeout: 60 }] } },
      ]),
    }),
  },
})

/** What `codex exec --json` prints, as of 0.169. */
function codexEvents(run: ReportedRun): EventTable {
  /** Whether it reported any action. */
  let hasActions = false
  const rejections: string[] = []

  function onAction(item: UnknownRecord, isDone: boolean): void {
    const facts = factsOf(item)
    if (!facts) return
    hasActions = true
    const status = asString(item.status) ?? (isDone ? 'completed' : 'in_progress')
    const denial = denialIn(item, status)
    if (denial !== null) run.result(item.id, { status: 'denied', text: denial }, { facts })
    else if (isDone) run.result(item.id, resultOf(item, status), { facts, status })
    else if (status === 'in_progress') run.call(item.id, facts)
  }

  return {
    parts({ type, item, ...event }) {
      if (!item) return [[String(type), event]]
      return [[`${type}/${asRecord(item).type}`, asRecord(item)]]
    },
    on: {
      'thread.started': (event) => run.session(event.thread_id),
      'item.completed/agent_message': (item) => run.say(item.text),
      'any/todo_list': (item) => run.list(item.items, 'text'),
      // only a warning: the end of the turn says how it ended
      'any/error': (item) => run.shown.line(`warning: ${clauseOf(asString(item.message) ?? '')}`),
      'item.started': (item) => onAction(item, false),
      'item.updated': (item) => onAction(item, false),
      'item.completed': (item) => onAction(item, true),
      'turn.completed'(event) {
        run.verdict = { ok: true }
        run.usage = codexUsage(event.usage)
      },
      'turn.failed'(event) {
        run.verdict = failedOutcome(asRecord(event.error).message)
      },
      error({ message }) {
        // also sent for a connection that is retried; the end of the turn overrides it
        run.verdict = failedOutcome(message)
        const again = retryIn(asString(message) ?? '')
        if (again !== null) run.retry(again)
      },
    },
    /** Its log has no command or path; its record of the conversation may have them. */
    errorLine(text) {
      const reason = REJECTION.exec(text)?.[1]
      if (reason !== undefined) rejections.push(reason)
      return false
    },
    unsent(record) {
      const isComparable = record !== null && (record.marksSent || !hasActions)
      const actions = isComparable ? record.actions : []
      if (actions.length > 0) run.shown.line(FROM_RECORD)
      for (const { id, facts, result } of actions) run.result(`record ${id}`, result, { facts })
      const reasons = actions.map(({ result }) => result.text)
      for (const rejection of rejections) {
        const reason = codexRejection(rejection) ?? rejection
        const at = reasons.indexOf(reason)
        if (at >= 0) reasons.splice(at, 1)
        else run.denied(null, { tool: /^patch\b/.test(rejection) ? 'patch' : 'shell' }, reason)
      }
    },
  }
}

const RECONNECTING = /^Reconnecting\.{3} (\d+)\/(\d+)(?: \((.*)\))?$/s
const STATUS = /\bstatus (\d{3})\b/

/** A reconnection. Retries on the same connection are only in its own log. */
function retryIn(message: string): AgentRetry | null {
  const [found, attempt, of, reason = ''] = RECONNECTING.exec(message) ?? []
  if (found === undefined) return null
  const status = STATUS.exec(reason)?.[1]
  return {
    attempt: Number(attempt),
    of: Number(of),
    ...(status === undefined ? { reason: clauseOf(reason) } : { status: Number(status) }),
  }
}

function resultOf(
  { exit_code, aggregated_output, error }: UnknownRecord,
  status: string,
): ToolResult {
  const printed = asString(aggregated_output) ?? asString(asRecord(error).message) ?? ''
  if (status !== 'failed') return { status: 'completed', text: printed }
  const code = typeof exit_code === 'number' ? `exit ${exit_code}\n` : ''
  return { status: 'failed', text: code + printed }
}

function factsOf(item: UnknownRecord): ToolFacts | null {
  switch (item.type) {
    case 'command_execution':
      return toolFacts(CODEX_TOOLS, 'shell', {
        command: innerCommand(asString(item.command) ?? ''),
      })
    case 'file_change': {
      const paths = asArray(item.changes).map((change) => asString(asRecord(change).path))
      return toolFacts(CODEX_TOOLS, 'patch', { path: paths.join(', ') })
    }
    case 'mcp_tool_call':
      return toolFacts(CODEX_TOOLS, `${item.server}.${item.tool}`, item.arguments)
    case 'web_search':
      return toolFacts(CODEX_TOOLS, 'web_search', { query: item.query })
    default:
      return null
  }
}

const WITHIN_SHELL = /^\S*\b(?:ba|z)?sh -l?c (?:'([^']*)'|"([^"\\$`]*)")$/

/** Removes the shell that Codex wraps around every command. */
function innerCommand(command: string): string {
  const [, single, double] = WITHIN_SHELL.exec(command) ?? []
  return single ?? double ?? command
}

/** Why an action was blocked: by its policy, or by its sandbox, which fails like any command. */
function denialIn({ type, aggregated_output }: UnknownRecord, status: string): string | null {
  if (status === 'declined') return 'declined by its own policy'
  if (status !== 'failed' || type !== 'command_execution') return null
  return sandboxError(asString(aggregated_output) ?? '')
}

/** A rejection by its policy is in no event and does not change its exit code; only its log has it (0.169). */
const REJECTION =
  /codex_core::\S{0,200}router: error=(.*\breject.*|Command blocked by PreToolUse hook: .*)$/i
