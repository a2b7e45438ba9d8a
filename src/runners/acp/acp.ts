import { notLoaded } from '../../model/app-error.ts'
import { allowedPathsOf } from '../call-check.ts'
import {
  agentOf,
  type PlanRequest,
  type PlanResult,
  type Runner,
  RunnerFailure,
  type WorkRequest,
  type WorkResult,
} from '../contract.ts'
import type { AcpSpec } from './acp-spec.ts'
import type { AcpRun } from './run-agent.ts'

/**
 * Runs an agent that speaks the Agent Client Protocol (ACP), version 1, over its standard streams. The agent gets no
 * file or terminal access from the client: it works on the disk itself, and the service looks at the result there.
 */
export function acpRunner(spec: AcpSpec): Runner {
  return {
    kind: 'acp',
    capabilities: { isAgent: true, executesAny: true },
    plan: (request) => plan(spec, request),
    execute: (request) => execute(spec, request),
  }
}

async function runAgent(run: AcpRun) {
  const { runAgent } = await import('./run-agent.ts').catch(notLoaded)
  return runAgent(run)
}

async function plan(spec: AcpSpec, request: PlanRequest): Promise<PlanResult> {
  const agent = agentOf(request)
  const { workdir, signal } = request
  const timeoutMs = agent.timeoutMs ?? 0
  const run = { spec, allowedPaths: null, workdir, timeoutMs, agent, signal }
  const { plan, noPlan, denials } = await runAgent(run)
  if (plan) return plan
  const complaints = [denials.summary(), noPlan]
  throw new RunnerFailure(`${spec.title} ${complaints.filter((each) => each).join(', and ')}`)
}

/** Succeeds if the agent says so. Denied actions are in the audit trail and do not make the run fail. */
async function execute(spec: AcpSpec, request: WorkRequest): Promise<WorkResult> {
  const agent = agentOf(request)
  const { workdir, signal } = request
  const allowedPaths = await allowedPathsOf(request)
  const timeoutMs = agent.timeoutMs ?? request.stepTimeoutMs
  try {
    await runAgent({ spec, allowedPaths, workdir, timeoutMs, agent, signal })
    return { ok: true }
  } catch (error) {
    if (error instanceof RunnerFailure) return { ok: false, reason: error.message }
    throw error
  }
}
