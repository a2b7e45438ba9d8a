/** What makes an agent that Casefile started ask, before each call of a tool, whether its plan allows it. */

import { fileURLToPath } from 'node:url'
import { writeDurable } from '../files/durable-write.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { isUnlimited } from '../model/scope.ts'
import { workerFile } from '../package-files.ts'
import { type AllowedPaths, temporaryFolders } from './acp/allowed-paths.ts'
import type { CallHook } from './agents/agent.ts'
import type { AgentTools } from './agents/tool-kinds.ts'
import { scratchFolder } from './agents/user-tools.ts'
import { agentOf, type WorkRequest } from './contract.ts'
import { quoteForShell } from './shell-quote.ts'

/** Where an approved plan lets an agent work. */
export async function allowedPathsOf(request: WorkRequest): Promise<AllowedPaths> {
  const { workdir, plan, isStanding = false } = request
  const { env, closed = [] } = agentOf(request)
  return {
    workdir,
    closed,
    temporary: await temporaryFolders(env.TMPDIR),
    scratch: await scratchFolder(env, workdir),
    scope: { ...(await readPlan(plan)).scope, isStanding },
  }
}

/** What the program of the hook reads. */
export interface CheckedCalls {
  allowed: AllowedPaths
  tools: AgentTools
  /** The denial in the agent's words, as JSON with `REASON` for its reason. */
  denial: string
  /** Whether mounts hold the working folder, so that only the scope is to be checked. */
  hasWalls: boolean
}

/** Where the reason comes in a denial. */
export const REASON = '{reason}'

const FAILED =
  'Casefile could not check whether the approved plan allows this call, so it is denied.'

/**
 * The command of a hook before each call, which denies changes that the plan does not allow: outside its scope, and
 * without mounts outside the working folder. Null if there is nothing to check.
 */
export async function callCheck(
  request: WorkRequest,
  { tools, deny }: Pick<CallHook, 'tools' | 'deny'>,
): Promise<string | null> {
  const { folder, sandbox } = agentOf(request)
  const allowed = await allowedPathsOf(request)
  const hasWalls = sandbox.kind !== 'none'
  if (hasWalls && isUnlimited(allowed.scope)) return null
  const file = `${folder}/allowed.json`
  const denial = JSON.stringify(deny(REASON))
  const calls: CheckedCalls = { allowed, tools, denial, hasWalls }
  await writeDurable(file, Buffer.from(JSON.stringify(calls)), { mode: 0o600 })
  const program = fileURLToPath(workerFile('runners/call-check-main.ts'))
  const words = [process.execPath, program, file].map(quoteForShell).join(' ')
  // a hook that fails would let the call pass
  return `${words} || printf '%s' ${quoteForShell(JSON.stringify(deny(FAILED)))}`
}
