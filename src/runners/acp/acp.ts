import { basename } from 'node:path'
import { readPlan } from '../../markdown/plan-steps.ts'
import { notLoaded } from '../../model/app-error.ts'
import type { ProviderSettings } from '../../model/settings.ts'
import { type AcpSpec, acpSpec } from '../agents/agent.ts'
import { ACP_AGENTS } from '../agents/registry.ts'
import { allowanceOf, scratchFolder } from '../agents/user-places.ts'
import {
  agentOf,
  type PlanRequest,
  type PlanResult,
  type Runner,
  RunnerFailure,
  type WorkRequest,
  type WorkResult,
} from '../contract.ts'
import { temporaryFolders } from './allowed-paths.ts'
import type { AcpRun } from './run-agent.ts'

/**
 * Runs an agent that speaks the Agent Client Protocol (ACP), version 1, over its standard streams. `args` are added
 * to the arguments that turn the protocol on. The agent gets no file or terminal access from the client: it works
 * on the disk itself, and the service looks at the result there.
 */
export function acpRunner(spec: AcpSpec, args: readonly string[] = []): Runner {
  const started = { spec, argv: [spec.program, ...spec.args, ...args] }
  return {
    kind: 'acp',
    capabilities: { isAgent: true, executesAny: true },
    plan: (request) => plan(started, request),
    execute: (request) => execute(started, request),
  }
}

/**
 * An agent defined in casefile.md. If its command runs a known agent, even through a wrapper, that agent's settings
 * apply.
 */
export function customAcpSpec(
  id: string,
  { command, planMode, workMode }: Extract<ProviderSettings, { kind: 'acp' }>,
): AcpSpec {
  const [program = '', ...args] = command
  const named = { plan: planMode, work: workMode }
  const known = knownAgent(command)
  if (known) {
    // a wrapper would print its own version
    const version = programName(program) === known.program ? known.version : []
    return { ...known, id, title: id, program, args, named, version }
  }
  const note = 'It is not known what its plan mode prevents.'
  return acpSpec({
    id,
    title: id,
    program,
    args,
    version: [],
    planMode: { holds: 'advice', note },
    named,
    errorsAsText: 'answer',
  })
}

/** Finds the known agent that a command runs, also through a wrapper, as in `npx gemini --acp`. */
function knownAgent(command: readonly string[]): AcpSpec | undefined {
  return ACP_AGENTS.find(({ program, args }) => {
    const at = command.findIndex((word) => programName(word) === program)
    const rest = command.slice(at + 1)
    return at >= 0 && args.every((word) => rest.includes(word))
  })
}

/** `@scope/name@1.2.3`, `/usr/bin/name` and `name.cmd` all give `name`. */
function programName(word: string): string {
  return basename(word).replace(/(?<=.)@[^@]*$|\.(?:cmd|exe|ps1|[cm]?js)$/, '')
}

type Started = Pick<AcpRun, 'spec' | 'argv'>

async function runAgent(run: AcpRun) {
  const { runAgent } = await import('./run-agent.ts').catch(notLoaded)
  return runAgent(run)
}

async function plan({ spec, argv }: Started, request: PlanRequest): Promise<PlanResult> {
  const agent = agentOf(request)
  const { workdir, signal } = request
  const timeoutMs = agent.timeoutMs ?? 0
  const planArgv = [...argv, ...spec.planArgs.map((word) => word.replace('{folder}', agent.folder))]
  const conversation = {
    spec,
    argv: planArgv,
    allowedPaths: null,
    workdir,
    timeoutMs,
    agent,
    signal,
  }
  const { plan, noPlan, denials } = await runAgent(conversation)
  if (plan) return plan
  const complaints = [denials.summary(), noPlan]
  throw new RunnerFailure(`${spec.title} ${complaints.filter((each) => each).join(', and ')}`)
}

/** Succeeds if the agent says so. Denied actions are in the audit trail and do not make the run fail. */
async function execute({ spec, argv }: Started, request: WorkRequest): Promise<WorkResult> {
  const agent = agentOf(request)
  const { workdir, signal } = request
  const temporary = await temporaryFolders(agent.env.TMPDIR)
  const scratch = await scratchFolder(agent.env, workdir)
  const { scope } = await readPlan(request.plan)
  const allowedPaths = {
    workdir,
    closed: agent.closed ?? [],
    temporary,
    scratch,
    scope,
  }
  const more = await allowanceOf(spec.userPlaces, agent.env, workdir)
  const allowed = { ...spec, workEnv: { ...spec.workEnv, ...more.env } }
  const words = [...argv, ...more.args]
  const timeoutMs = agent.timeoutMs ?? request.stepTimeoutMs
  try {
    await runAgent({
      spec: allowed,
      argv: words,
      allowedPaths,
      workdir,
      timeoutMs,
      agent,
      signal,
    })
    return { ok: true }
  } catch (error) {
    if (error instanceof RunnerFailure) return { ok: false, reason: error.message }
    throw error
  }
}
