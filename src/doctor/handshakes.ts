import { randomUUID } from 'node:crypto'

import { type Handshake, tryHandshake } from '../runners/acp/handshake.ts'
import { findProgram } from '../runners/process/find-program.ts'
import { killRunById } from '../runners/process/kill-run.ts'
import { stepEnvironment } from '../sessions/environment.ts'
import { listProviders } from '../sessions/providers.ts'
import { notStarted, whyUntrusted } from '../sessions/start-checks.ts'
import type { WorkspaceFolders } from '../settings/workspace-folders.ts'

export interface AgentHandshake {
  id: string
  handshake: Handshake
}

/**
 * Opens a session with every installed and trusted ACP agent, one after the other, without sending a prompt. An
 * agent may take 20 s.
 */
export async function* handshakes(
  places: WorkspaceFolders,
  environment: NodeJS.ProcessEnv,
): AsyncGenerator<AgentHandshake> {
  const settings = await places.settings()
  for (const { id, spec, trusted } of listProviders(settings)) {
    if (!trusted || !spec || !('named' in spec)) continue
    const where = { path: environment.PATH, cwd: places.root }
    if ((await findProgram(spec.program, where)) === null) continue
    // its program may be a path in the workspace
    const place = { root: places.root, folder: places.root }
    const why = await whyUntrusted(spec, place, settings.files)
    if (why !== null) {
      yield { id, handshake: { ok: false, reason: notStarted(id, why) } }
      continue
    }
    const runId = randomUUID()
    try {
      const ids = { runId, case_id: runId, session_id: runId }
      const { env } = stepEnvironment(environment, ids, settings, spec.env)
      yield { id, handshake: await tryHandshake(spec, { env, cwd: places.root }) }
    } finally {
      await killRunById(runId)
    }
  }
}
