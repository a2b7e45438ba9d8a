import { join } from 'node:path'
import type { ToolFacts } from '../../contract.ts'
import { clauseOf } from '../agent-text.ts'
import { readDatedRecord } from '../dated-record.ts'
import {
  type OwnRecord,
  type ReadOwnRecord,
  type RecordedAction,
  readEvent,
} from '../parser-kit.ts'
import type { ToolResult } from '../readable-output.ts'
import { toolFacts } from '../tool-kinds.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import { codexHome } from './home.ts'
import { CODEX_TOOLS } from './tools.ts'

/** The words of a rejection are at its beginning. */
const MAX_REJECTION = 10_000
/** By a hook of ours. */
const BLOCKED = /^Command blocked by PreToolUse hook: (Casefile: [^\n]*?)\.? Command: /

/**
 * Reads the file in which Codex records a conversation (its "rollout"). Codex does not report some actions: commands that the sandbox blocks at once, and actions that Codex's own policy rejects.
 */
export async function readCodexRecord({
  env,
  conversation,
  since,
}: Parameters<ReadOwnRecord>[0]): ReturnType<ReadOwnRecord> {
  const isRecord = (name: string) =>
    name.startsWith('rollout-') && name.endsWith(`-${conversation}.jsonl`)
  const record = await readDatedRecord(join(codexHome(env), 'sessions'), isRecord)
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
  return /^\s*apply_patch\b/.test(command)
    ? patchFacts(command)
    : toolFacts(CODEX_TOOLS, 'shell', { command })
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
  return toolFacts(CODEX_TOOLS, 'patch', { path: paths.map(([, path]) => path).join(', ') })
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
export function codexRejection(text: string): string | null {
  const [, blocked] = BLOCKED.exec(text.slice(0, MAX_REJECTION)) ?? []
  if (blocked !== undefined) return clauseOf(blocked)
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
export function sandboxError(printed: string): string | null {
  return lineWith(/: (?:Read-only file system|Operation not permitted)\W*$/, printed)
}

function lineWith(pattern: RegExp, text: string): string | null {
  const line = text.split('\n').find((each) => pattern.test(each))
  return line === undefined ? null : clauseOf(line)
}
