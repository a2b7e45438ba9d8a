/** The program of `callCheck`: reads a call as an agent sends it, and prints a denial or nothing. */

import { text } from 'node:stream/consumers'
import { readJsonFile } from '../files/json-file.ts'
import { scopeReason } from './acp/allowed-paths.ts'
import { workPolicy } from './acp/permission.ts'
import { readToolCall } from './acp/tool-call.ts'
import { toolInput } from './agents/hooks/hook-tool.ts'
import { toolKind } from './agents/tool-kinds.ts'
import { asRecord, asString } from './agents/unknown-record.ts'
import { type CheckedCalls, REASON } from './call-check.ts'
import { whyNotReading } from './reading/commands.ts'

const READING: readonly (string | undefined)[] = ['read', 'search', 'fetch', 'other']

const { allowed, tools, denial, hasWalls } = (await readJsonFile(
  process.argv[2] ?? '',
)) as CheckedCalls
const call = asRecord(JSON.parse(await text(process.stdin)))
const name = asString(call.tool_name ?? call.toolName) ?? ''
const kind = toolKind(tools, name)
const reason = READING.includes(kind)
  ? null
  : await reasonAgainst(toolInput(call.tool_input ?? call.toolArgs))
if (reason !== null) {
  const words = `Casefile: ${reason}. Stay inside the approved plan.`
  process.stdout.write(denial.replace(JSON.stringify(REASON), () => JSON.stringify(words)))
}

async function reasonAgainst(rawInput: unknown): Promise<string | null> {
  const call = readToolCall({ name, kind, rawInput })
  const { commands } = call
  if (commands.length > 0 && commands.every((each) => whyNotReading(each) === null)) return null
  if (hasWalls) return scopeReason(call, allowed)
  const decision = await workPolicy(call, allowed)
  return decision.is === 'denied' ? decision.reason : null
}
