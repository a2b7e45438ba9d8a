import { RunnerFailure } from '../contract.ts'
import { noSandbox } from '../enclosure/sandbox.ts'
import { TIME_LIMITS } from '../time-limits.ts'
import { openSession } from './acp-session.ts'
import type { AcpSpec } from './acp-spec.ts'
import { openConnection } from './connection.ts'
import { planModeOf } from './modes.ts'
import { CANCELLED } from './permission.ts'
import { notStarted } from './run-agent.ts'

const LIMIT_MS = 20_000

export type Handshake =
  | {
      ok: true
      version?: string
      /** The ids of the modes that it offers. */
      modes: string[]
      /** The mode it would plan in; null if it has none. */
      planMode: string | null
    }
  | { ok: false; reason: string }

export interface HandshakeOptions {
  env: Record<string, string>
  cwd: string
}

/** Starts an agent and opens a session, but sends no prompt. */
export async function tryHandshake(
  spec: AcpSpec,
  { env, cwd }: HandshakeOptions,
): Promise<Handshake> {
  const { title } = spec
  const limit = AbortSignal.timeout(LIMIT_MS)
  const sandbox = noSandbox()
  const connection = await openConnection({
    title,
    argv: [spec.program, ...spec.args],
    limits: TIME_LIMITS,
    cwd,
    sandbox,
    signal: limit,
    env,
    onStart: async () => {},
    onRaw: () => {},
    onUpdate: () => {},
    onPermission: async () => CANCELLED,
    room: async () => {},
  })
  if ('startError' in connection) {
    await sandbox.end()
    return { ok: false, reason: notStarted(spec, connection.startError) }
  }
  try {
    const asked = { title, limits: TIME_LIMITS, cwd, resume: null, signal: limit }
    const { version, offer } = await openSession(connection, asked)
    return {
      ok: true,
      ...(version === null ? {} : { version }),
      modes: offer?.modes.map(({ id }) => id) ?? [],
      planMode: offer && planModeOf(offer, spec.named.plan),
    }
  } catch (error) {
    if (error === limit.reason) {
      return { ok: false, reason: `${title} did not answer within ${LIMIT_MS / 1000} s` }
    }
    if (error instanceof RunnerFailure) return { ok: false, reason: error.message }
    throw error
  } finally {
    await connection.end(true)
    await sandbox.end()
  }
}
