import { randomUUID } from 'node:crypto'

import { type Handshake, tryHandshake } from '../runners/acp/handshake.ts'
import type { AcpSpec, AgentSpec } from '../runners/agents/agent.ts'
import { warningAbout } from '../runners/agents/agent-version.ts'
import { openRunFolder } from '../runners/output/run-folder.ts'
import { findProgram } from '../runners/process/find-program.ts'
import { killRunById } from '../runners/process/kill-run.ts'
import { stepEnvironment } from '../sessions/environment.ts'
import { listProviders } from '../sessions/providers.ts'
import { notStarted, whyUntrusted } from '../sessions/start-checks.ts'
import type { Places } from '../settings/places.ts'

export interface AgentHandshake {
  id: string
  handshake: Handshake
  /** A warning about the version that the agent reported. */
  warning: string | null
}

/**
 * Opens a session with every installed and trusted ACP agent, one after the other, without sending a prompt. An
 * agent may take 20 s.
 */
export async function* handshakes(
  places: Places,
  environment: NodeJS.ProcessEnv,
): AsyncGenerator<AgentHandshake> {
  const settings = await places.settings()
  for (const { id, spec, trusted, source } of listProviders(settings)) {
    if (!trusted || !spec || !isAcp(spec)) continue
    const where = { path: environment.PATH, cwd: places.root }
    if ((await findProgram(spec.program, where)) === null) continue
    // a program from casefile.md may be a path in the workspace
    const atRoot = source === 'casefile.md'
    const place = { root: places.root, folder: places.root }
    const why = atRoot ? await whyUntrusted(spec, place, settings.files) : null
    if (why !== null) {
      yield { id, handshake: { ok: false, reason: notStarted(id, why) }, warning: null }
      continue
    }
    const runId = randomUUID()
    const folder = await openRunFolder(places.state.scratch, `doctor-${runId}`)
    try {
      const ids = { runId, case_id: runId, session_id: runId }
      const { env } = stepEnvironment(environment, ids, settings, spec.env)
      const cwd = atRoot ? places.root : folder.path
      const defined = settings.providers.get(id)
      const args = defined?.kind === 'preset' ? defined.args : []
      const handshake = await tryHandshake(spec, { env, cwd, args })
      const version = handshake.ok ? (handshake.version ?? null) : null
      yield { id, handshake, warning: warningAbout(spec, version).warning ?? null }
    } finally {
      await killRunById(runId)
      await folder.close()
    }
  }
}

function isAcp(spec: AgentSpec): spec is AcpSpec {
  return spec.kind === 'acp'
}
