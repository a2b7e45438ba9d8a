/** The program of `callCheck`: reads a call as Claude Code and Codex send it, and prints a denial or nothing. */

import { text } from 'node:stream/consumers'
import { readJsonFile } from '../files/json-file.ts'
import type { AllowedPaths } from './acp/allowed-paths.ts'
import { workPolicy } from './acp/permission.ts'
import { readToolCall } from './acp/tool-call.ts'
import { denyClaude } from './agents/claude/hooks.ts'
import { CLAUDE_TOOLS } from './agents/claude/tools.ts'
import { CODEX_TOOLS } from './agents/codex/tools.ts'
import { toolKind } from './agents/tool-kinds.ts'
import { asRecord, asString } from './agents/unknown-record.ts'

const allowed = (await readJsonFile(process.argv[2] ?? '')) as AllowedPaths
const { tool_name, tool_input } = asRecord(JSON.parse(await text(process.stdin)))
const name = asString(tool_name) ?? ''
const kind = toolKind(CLAUDE_TOOLS, name) ?? toolKind(CODEX_TOOLS, name)
if (kind !== 'other') {
  const call = readToolCall({ name, kind, rawInput: tool_input })
  const decision = await workPolicy(call, allowed)
  if (decision.is === 'denied') {
    const reason = `Casefile: ${decision.reason}. Stay inside the approved plan.`
    process.stdout.write(JSON.stringify(denyClaude(reason)))
  }
}
