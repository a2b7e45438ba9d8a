/** Where the programs of an approved run start, prepared while git is asked about the working folder. */

import { runVariables } from '../model/commit-trailer.ts'
import type { Session } from '../model/session.ts'
import { standingApproval } from '../model/trail.ts'
import type { AgentSpec } from '../runners/agents/agent.ts'
import type { Sandbox } from '../runners/enclosure/sandbox.ts'
import { openRunFolder } from '../runners/output/run-folder.ts'
import type { SessionDeps } from './deps.ts'
import { stepEnvironment } from './environment.ts'
import type { IsolatedWork } from './isolation.ts'
import type { Job } from './jobs.ts'
import { runSandbox, type Walls } from './walls.ts'

interface WorkScene {
  session: Session
  isolated: IsolatedWork | null
  /** The agent that is started; null for steps. */
  agent: AgentSpec | null
  /** Whether it may take any time. */
  isEndless: boolean
  /** Stops the run. */
  stop: AbortSignal
}

export type PreparedRun = Awaited<ReturnType<typeof prepareRun>>

export async function prepareRun(
  deps: SessionDeps,
  job: Job,
  { session, isolated, agent, isEndless, stop }: WorkScene,
) {
  const settings = await deps.settings.forRun()
  const given = stepEnvironment(deps.environment, job, settings, agent?.env)
  const env = { ...given.env, ...isolated?.env, ...approvalVariables(session) }
  const late = new AbortController()
  const signal = AbortSignal.any([job.signal, stop, late.signal])
  const run = await openRunFolder(deps.state.scratch, `work-${job.session_id}`)
  const scene = { workdir: job.folder!, run, settings, signal, isolated, env }
  const opened: Promise<Walls>[] = []
  let limit: NodeJS.Timeout | undefined

  async function openWalls(agent: AgentSpec | null): Promise<Walls> {
    const walls = await runSandbox(deps, { ...scene, agent })
    if (walls.sandbox.kind === 'none') await deps.runGuard.begin(job)
    return walls
  }

  function wallsFor(agent: AgentSpec | null): Promise<Walls> {
    const walls = openWalls(agent)
    walls.catch(() => {}) // it is awaited where it is needed
    opened.push(walls)
    return walls
  }

  const walls = wallsFor(agent)
  let own: Promise<Walls> | null = agent ? null : walls
  return {
    settings,
    run,
    env,
    /** What its programs do not get. */
    missing: given.missing,
    /** Aborted when the run should end. */
    signal,
    /** Starts its time limit, by which the signal is aborted; that one is returned. */
    startLimit() {
      // not `AbortSignal.timeout`, which keeps what listens, and so the whole run, until it is due
      if (!isEndless) limit = setTimeout(() => late.abort(), settings.timeout.work)
      return late.signal
    },
    /** Of the agent, if one is started. */
    walls,
    /** What the agent needs is not shown to steps. */
    async forSteps(): Promise<Sandbox> {
      own ??= wallsFor(null)
      return (await own).sandbox
    },
    async close() {
      clearTimeout(limit)
      for (const each of await Promise.allSettled(opened))
        if (each.status === 'fulfilled') await each.value.sandbox.end()
      await run.close()
    },
  }
}

/** By which `casefile trailer` knows the session where its programs do not see the record. */
function approvalVariables({ number, trail }: Session): Record<string, string> {
  const approval = standingApproval(trail)
  if (!approval) throw new Error('work without an approval')
  const { fields, time } = approval
  return runVariables({
    session: number,
    plan_sha256: String(fields.plan_sha256),
    approved_at: time,
  })
}
