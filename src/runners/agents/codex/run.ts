import { isAbsolute, join } from 'node:path'
import type { AgentRetry } from '../../../model/agent-retry.ts'
import type { ToolFacts } from '../../contract.ts'
import { type Agent, type CommandLine, commandSpec } from '../agent.ts'
import { clauseOf } from '../agent-text.ts'
import { type AgentUsage, NO_USAGE, tokenSums } from '../agent-usage.ts'
import { readDatedRecord } from '../dated-record.ts'
import { NETWORK_ENV, OPENAI_ENV } from '../environment.ts'
import { CODEX_LOGIN } from '../logins.ts'
import { ownFolder } from '../own-places.ts'
import {
  agentPlan,
  createMessages,
  denied,
  FROM_RECORD,
  failedOutcome,
  NO_VERDICT,
  type OutputParser,
  type OwnRecord,
  type ParsedNote,
  type ReadOwnRecord,
  type RecordedAction,
  readEvent,
  retry,
  session,
  toolCall,
  toolFacts,
} from '../parser-kit.ts'
import type { ReadableOutput, ToolResult } from '../readable-output.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'

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
export const codex: Agent = {
  command: commandSpec({
    id: 'codex',
    title: 'Codex',
    program: 'codex',
    install: 'npm install -g @openai/codex',
    login: CODEX_LOGIN,
    ownPlaces: ownFolder('CODEX_HOME', '.codex'),
    env: ENV,
    instructions: [['AGENTS.override.md', 'AGENTS.md']],
    stream: 'codex',
    readRecord,
    planMode: {
      holds: 'sandbox',
      note: 'Its commands run in an operating system sandbox that blocks writes; MCP servers that you configured run outside of it.',
    },
    plan: line('exec', '{args}', ...END, '--sandbox', 'read-only', '-'),
    resume: line('exec', 'resume', '{args}', ...END, ...READ_ONLY, '{session}', '-'),
    work: line('exec', '{args}', ...END, '--sandbox', 'workspace-write', '-'),
  }),
  createParser: createCodexParser,
}

/** Parses `codex exec --json`, as of 0.169. */
function createCodexParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  let verdict = NO_VERDICT
  let usage = NO_USAGE
  /** Whether it reported any action. */
  let hasActions = false
  const rejections: string[] = []

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (event === null) shown.line(text)
    switch (event?.type) {
      case 'thread.started':
        return session(event.thread_id)
      case 'item.started':
      case 'item.updated':
      case 'item.completed':
        return onItem(asRecord(event.item), event.type === 'item.completed')
      case 'turn.completed':
        verdict = { ok: true }
        usage = usageIn(event.usage)
        return []
      case 'turn.failed':
        verdict = failedOutcome(asRecord(event.error).message)
        return []
      case 'error':
        // also sent for a connection that is retried; the end of the turn overrides it
        verdict = failedOutcome(event.message)
        return onError(asString(event.message) ?? '')
      default:
        return []
    }
  }

  function onItem(item: UnknownRecord, isDone: boolean): ParsedNote[] {
    if (item.type === 'todo_list') return agentPlan(item.items, 'text')
    if (item.type === 'agent_message') {
      if (isDone) say(asString(item.text) ?? '')
      return []
    }
    // only a warning: the end of the turn says how it ended
    if (item.type === 'error') shown.line(`warning: ${clauseOf(asString(item.message) ?? '')}`)
    const facts = factsOf(item)
    if (!facts) return []
    hasActions = true
    const id = String(item.id)
    const status = asString(item.status) ?? (isDone ? 'completed' : 'in_progress')
    const denial = denialIn(item, status)
    if (denial !== null) {
      shown.result(id, facts, { status: 'denied', text: denial })
      return [denied(facts, denial)]
    }
    if (!isDone && status !== 'in_progress') return []
    if (isDone) shown.result(id, facts, resultOf(item, status))
    else shown.call(id, facts)
    return [toolCall(facts, status)]
  }

  function onError(message: string): ParsedNote[] {
    const again = retryIn(message)
    return again === null ? [] : retry(again)
  }

  function say(text: string): void {
    messages.add(text)
    shown.message(text)
  }

  /** Its log has no command or path; its record of the conversation may have them. */
  function errorLine(text: string): ParsedNote[] {
    const reason = REJECTION.exec(text)?.[1]
    if (reason !== undefined) rejections.push(reason)
    return []
  }

  function unsent(record: OwnRecord | null): ParsedNote[] {
    const isComparable = record !== null && (record.marksSent || !hasActions)
    const actions = isComparable ? record.actions : []
    if (actions.length > 0) shown.line(FROM_RECORD)
    const notes = actions.map(({ id, facts, result }) => {
      shown.result(`record ${id}`, facts, result)
      const { status, text } = result
      return status === 'denied' ? denied(facts, text) : toolCall(facts, status)
    })
    const reasons = actions.map(({ result }) => result.text)
    for (const rejection of rejections) {
      const reason = codexRejection(rejection) ?? rejection
      const at = reasons.indexOf(reason)
      if (at >= 0) reasons.splice(at, 1)
      else notes.push(denied({ tool: /^patch\b/.test(rejection) ? 'patch' : 'shell' }, reason))
    }
    return notes
  }

  const end = () => ({ ...messages.end(), plan: null, verdict, usage })
  return { line, errorLine, unsent, end }
}

/** It counts a conversation from its beginning, even if resumed, and does not name its model. */
function usageIn(usage: unknown): AgentUsage {
  const names = {
    input: ['input_tokens'],
    output: ['output_tokens'],
    cached: 'cached_input_tokens',
  }
  return { ...NO_USAGE, ...tokenSums(usage, names), cumulative: 'tokens' }
}

/** The words of a rejection are at its beginning. */
const MAX_REJECTION = 10_000
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
      return toolFacts('shell', { command: innerCommand(asString(item.command) ?? '') })
    case 'file_change': {
      const paths = asArray(item.changes).map((change) => asString(asRecord(change).path))
      return toolFacts('patch', { path: paths.join(', ') })
    }
    case 'mcp_tool_call':
      return toolFacts(`${item.server}.${item.tool}`, item.arguments)
    case 'web_search':
      return toolFacts('web_search', { query: item.query })
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
const REJECTION = /codex_core::\S{0,200}router: error=(.*\breject.*)$/i

/**
 * Reads the file in which Codex records a conversation (its "rollout"). Codex does not report some actions: commands that the sandbox blocks at once, and actions that Codex's own policy rejects.
 */
async function readRecord({
  env,
  conversation,
  since,
}: Parameters<ReadOwnRecord>[0]): ReturnType<ReadOwnRecord> {
  const home = env.CODEX_HOME ?? (env.HOME === undefined ? '' : join(env.HOME, '.codex'))
  if (!isAbsolute(home)) return null
  const isRecord = (name: string) =>
    name.startsWith('rollout-') && name.endsWith(`-${conversation}.jsonl`)
  const record = await readDatedRecord(join(home, 'sessions'), isRecord)
  return record === null || record === 'too_large' ? record : codexRecord(record.text, since)
}

const CALLS = ['function_call', 'custom_tool_call', 'local_shell_call']
const OUTPUTS = ['function_call_output', 'custom_tool_call_output']

export function codexRecord(text: string, since: number): OwnRecord {
  const calls = new Map<string, ToolFacts>()
  const outputs = new Map<string, string>()
  const sent = new Set<string>()
  for (const line of text.split('\n')) {
    const event = readEvent(line)
    if (!(Date.parse(asString(event?.timestamp) ?? '') >= since)) continue
    const payload = asRecord(event?.payload)
    const type = asString(payload.type) ?? ''
    const id = asString(payload.call_id)
    const item = asRecord(payload.item)
    if (type === 'item_completed') sent.add(String(item.id))
    else if (id === null) continue
    else if (OUTPUTS.includes(type)) outputs.set(id, outputText(payload.output))
    else if (CALLS.includes(type)) {
      const facts = recordedFacts(payload)
      if (facts) calls.set(id, facts)
    }
  }
  const actions = [...calls].flatMap(([id, facts]): RecordedAction[] => {
    const output = outputs.get(id)
    const result = sent.has(id) || output === undefined ? null : recordedResult(output)
    return result ? [{ id, facts, result }] : []
  })
  return { actions, marksSent: sent.size > 0 }
}

/** Only for tools that act on files or the system; null for others, such as the to-do list. */
function recordedFacts(call: UnknownRecord): ToolFacts | null {
  const input = inputOf(call)
  const name = asString(call.name) ?? 'local_shell'
  if (name === 'apply_patch') return patchFacts(asString(call.input) ?? asString(input.input) ?? '')
  if (!/^(?:exec_command|shell|shell_command|local_shell|container\.exec)$/.test(name)) return null
  const command = commandOf(input.cmd ?? input.command)
  return /^\s*apply_patch\b/.test(command) ? patchFacts(command) : toolFacts('shell', { command })
}

function inputOf(call: UnknownRecord): UnknownRecord {
  const text = asString(call.arguments)
  return text === null ? asRecord(call.action) : (readEvent(text) ?? {})
}

function commandOf(command: unknown): string {
  const words = asArray(command).map(String)
  if (words.length === 0) return asString(command) ?? ''
  return /^-l?c$/.test(words[1] ?? '') ? (words[2] ?? '') : words.join(' ')
}

function patchFacts(patch: string): ToolFacts {
  const paths = [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)]
  return toolFacts('patch', { path: paths.map(([, path]) => path).join(', ') })
}

function outputText(output: unknown): string {
  const parts = asArray(output).map((part) => asString(asRecord(part).text) ?? '')
  return asString(output) ?? (asString(asRecord(output).content) || parts.join('\n'))
}

/** Null for a command that was still running: its start was reported. */
function recordedResult(output: string): ToolResult | null {
  const [head = '', ...rest] = output.split(/^Output:\n/m)
  const printed = rest.join('Output:\n')
  if (/^Process running with session ID/m.test(head)) return null
  const rejection = codexRejection(head)
  if (rejection !== null) return { status: 'denied', text: rejection }
  const exit = /^Process exited with code (-?\d+)$/m.exec(head)?.[1]
  if (exit === '0') return { status: 'completed', text: printed }
  // an unreported command was blocked by the sandbox, recognizable by the same words
  const denial = sandboxError(printed) ?? lineWith(/Permission denied/, printed)
  if (denial !== null) return { status: 'denied', text: denial }
  return { status: 'failed', text: exit === undefined ? output : `exit ${exit}\n${printed}` }
}

/**
 * Why Codex did not run something; null if it ran it. Neither its record nor its log has a field for that, so this
 * reads the text that its model gets (0.169).
 */
function codexRejection(text: string): string | null {
  if (!/^(?:exec_command failed: .*\breject|patch rejected\b|.*\breject command\b)/i.test(text)) {
    return null
  }
  return clauseOf(
    /Rejected\(\\*"`.*` rejected: (.*?)\\*"\)/.exec(text.slice(0, MAX_REJECTION))?.[1] ?? text,
  )
}

/**
 * The line of a failed command that shows the sandbox blocked it; null if there is none. The system reports that to
 * the command alone, as one of these two errors.
 */
function sandboxError(printed: string): string | null {
  return lineWith(/: (?:Read-only file system|Operation not permitted)\W*$/, printed)
}

function lineWith(pattern: RegExp, text: string): string | null {
  const line = text.split('\n').find((each) => pattern.test(each))
  return line === undefined ? null : clauseOf(line)
}
