import { basename } from 'node:path'
import { notLoaded } from '../../model/app-error.ts'
import type { ProviderSettings } from '../../model/settings.ts'
import { type CallHook, type CommandLine, type CommandSpec, commandSpec } from '../agents/agent.ts'
import { noPlan, planAmong, planOf } from '../agents/plan-text.ts'
import { KNOWN_AGENTS } from '../agents/registry.ts'
import { callCheck } from '../call-check.ts'
import {
  agentOf,
  type PlanRequest,
  type PlanResult,
  type Runner,
  RunnerFailure,
  type WorkRequest,
  type WorkResult,
} from '../contract.ts'
import { type CommandEnd, DROPPED, failureReason, workFailureReason } from './failure-reason.ts'

/** Runs a program that gets a prompt and prints its answer; `args` are the user's own arguments for it. */
export function commandRunner(spec: CommandSpec, args: readonly string[] = []): Runner {
  return {
    kind: 'command',
    capabilities: { isAgent: true, executesAny: spec.work !== null },
    plan: (request) => plan(spec, args, request),
    execute: (request) => execute(spec, args, request),
  }
}

async function plan(
  spec: CommandSpec,
  args: readonly string[],
  request: PlanRequest,
): Promise<PlanResult> {
  const { workdir, signal } = request
  const first = agentOf(request)
  const { resume, timeoutMs = 0 } = first
  const run = async (
    line: CommandLine,
    session: string | null,
    agent = first,
  ): Promise<PlanOutcome> => {
    const { runCommand } = await import('./command-run.ts').catch(notLoaded)
    const own = { mode: 'plan', session } as const
    const end = await runCommand({ ...own, spec, line, args, workdir, timeoutMs, agent, signal })
    if (signal.aborted) throw new RunnerFailure(`${spec.title} was stopped`)
    return findPlan(end)
  }
  let agent = first
  if (resume && spec.resume) {
    const { result, failure, messages } = await run(spec.resume, resume.session)
    if (result && failure === null) return result
    if (result) throw new RunnerFailure(`${spec.title} ${failure}`)
    if (failure === null && messages.length > 0) {
      throw new RunnerFailure(`${spec.title} ${noPlan(messages)}`)
    }
    // it may no longer have the conversation; the prompt contains everything it needs
    agent = { ...first, folder: await resume.restartFresh() }
  }
  const { result, failure, messages } = await run(spec.plan, null, agent)
  if (result && failure === null) return result
  throw new RunnerFailure(`${spec.title} ${failure ?? noPlan(messages)}`)
}

interface PlanOutcome {
  result: PlanResult | null
  failure: string | null
  messages: readonly string[]
}

/** Denied actions do not matter here, because the agent should only plan. */
function findPlan(end: CommandEnd): PlanOutcome {
  const { plan, messages, overlong } = end.stream
  const result = plan === null ? planAmong(messages) : planOf(plan)
  const failure = failureReason(end)
  const outcome = { result, failure, messages }
  if (result || failure !== null) return outcome
  if (end.hasDropped && !overlong) {
    return { ...outcome, failure: `ended without a plan; ${DROPPED}` }
  }
  if (!overlong) return outcome
  return {
    ...outcome,
    failure: 'sent a message of more than 1 MiB, which is too long for a plan',
  }
}

async function execute(
  spec: CommandSpec,
  args: readonly string[],
  request: WorkRequest,
): Promise<WorkResult> {
  const { work: line, title } = spec
  if (line === null) return { ok: false, reason: `${title} only plans: it has no command for work` }
  const { workdir, signal } = request
  const agent = agentOf(request)
  const timeoutMs = agent.timeoutMs ?? request.stepTimeoutMs
  const checked = await withCallHook(line, spec.callHook, request)
  const run = { mode: 'work', session: null, line: checked, timeoutMs } as const
  const { runCommand } = await import('./command-run.ts').catch(notLoaded)
  try {
    const end = await runCommand({ ...run, spec, args, workdir, agent, signal })
    if (signal.aborted) return { ok: false, reason: `${title} was stopped` }
    const failure = workFailureReason(spec, end)
    // denied actions are in the audit trail; the agent may have succeeded without them
    if (failure === null) return { ok: true }
    const reasons = [failure, end.denials.summary()].filter((each) => each !== null)
    return { ok: false, reason: `${title} ${reasons.join(', and ')}` }
  } catch (error) {
    if (error instanceof RunnerFailure) return { ok: false, reason: error.message }
    throw error
  }
}

/** The command with the hook that checks each call, if the agent has one and there is something to check. */
async function withCallHook(
  line: CommandLine,
  hook: CallHook | undefined,
  request: WorkRequest,
): Promise<CommandLine> {
  const command = hook && (await callCheck(request, hook))
  if (!command) return line
  const { folder, env: own } = agentOf(request)
  const run = { folder, env: { ...line.defaultEnv, ...own } }
  const { args = [], env, files } = await hook.start(command, run)
  return {
    ...line,
    argv: [...line.argv, ...args],
    env: { ...line.env, ...env },
    files: { ...line.files, ...files },
  }
}

/** A command from casefile.md, of which nothing else is known. */
export function customCommandSpec(
  id: string,
  settings: Extract<ProviderSettings, { kind: 'command' }>,
): CommandSpec {
  const { plan, work, prompt, stream = 'plain' } = settings
  const line = (argv: readonly string[]): CommandLine => ({ argv, prompt, isLiteral: true })
  const program = basename((work ?? plan)[0] ?? '')
  const known = KNOWN_AGENTS.find((each) => each.stream === stream || each.program === program)
  return commandSpec({
    id,
    title: id,
    program: plan[0] ?? '',
    version: [],
    ownPlaces: known?.ownPlaces ?? null,
    stream,
    planMode: {
      holds: 'none',
      note: 'It is not known what prevents it from writing while it plans.',
    },
    plan: line(plan),
    work: work === null ? null : line(work),
  })
}
