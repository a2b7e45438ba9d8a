import { isAbsolute, join } from 'node:path'
import { readDatedRecord } from '../../workspace/agent-record.ts'
import { clauseOf } from '../agents/cut-text.ts'
import type { OwnRecord, ReadOwnRecord, RecordedAction, RecordedRun } from '../agents/own-record.ts'
import type { ToolResult } from '../agents/readable-output.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import type { ToolFacts } from '../contract.ts'
import { readEvent } from './json-line.ts'
import { toolFacts } from './tool-facts.ts'

/**
 * Reads the file in which Codex records a conversation (its "rollout"). Codex and codex-acp do not report some
 * actions: commands that the sandbox blocks at once, and actions that Codex's own policy rejects.
 */
export const readCodexRecord: ReadOwnRecord = async ({ env, conversation, since }: RecordedRun) => {
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
      const facts = factsOf(payload)
      if (facts) calls.set(id, facts)
    }
  }
  const actions = [...calls].flatMap(([id, facts]): RecordedAction[] => {
    const output = outputs.get(id)
    const result = sent.has(id) || output === undefined ? null : resultOf(output)
    return result ? [{ id, facts, result }] : []
  })
  return { actions, marksSent: sent.size > 0 }
}

/** Only for tools that act on files or the system; null for others, such as the to-do list. */
function factsOf(call: UnknownRecord): ToolFacts | null {
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
function resultOf(output: string): ToolResult | null {
  const [head = '', ...rest] = output.split(/^Output:\n/m)
  const printed = rest.join('Output:\n')
  if (/^Process running with session ID/m.test(head)) return null
  const rejection = codexRejection(head)
  if (rejection !== null) return { status: 'denied', text: rejection }
  const exit = /^Process exited with code (-?\d+)$/m.exec(head)?.[1]
  if (exit === '0') return { status: 'completed', text: printed }
  // an unreported command was blocked by the sandbox, recognizable by the same words
  const refusal = sandboxError(printed) ?? lineWith(/Permission denied/, printed)
  if (refusal !== null) return { status: 'denied', text: refusal }
  return { status: 'failed', text: exit === undefined ? output : `exit ${exit}\n${printed}` }
}

/** Why Codex did not run something, from the text that its model and its log get; null if it ran it. */
export function codexRejection(text: string): string | null {
  if (!/^(?:exec_command failed: .*\breject|patch rejected\b|.*\breject command\b)/i.test(text)) {
    return null
  }
  return clauseOf(/Rejected\(\\*"`.*` rejected: (.*?)\\*"\)/.exec(text)?.[1] ?? text)
}

/** The line of a failed command that shows the sandbox blocked it; null if there is none. */
export function sandboxError(printed: string): string | null {
  return lineWith(/: (?:Read-only file system|Operation not permitted)\W*$/, printed)
}

function lineWith(pattern: RegExp, text: string): string | null {
  const line = text.split('\n').find((each) => pattern.test(each))
  return line === undefined ? null : clauseOf(line)
}
