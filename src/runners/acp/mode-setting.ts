import { withTimeout } from '../agents/timeouts.ts'
import { asRecord } from '../agents/unknown-record.ts'
import { RunnerFailure } from '../contract.ts'
import type { TimeLimits } from '../time-limits.ts'
import type { AcpSpec } from './acp-spec.ts'
import { type AgentConnection, requestWithTimeout } from './connection.ts'
import { type ModeOffer, modeIn, planModeOf, workModeOf } from './modes.ts'

/** Tracks the mode of a session, as reported by its agent. */
export interface ModeWatch {
  reported(mode: string): void
  /** The last reported mode; null if none was reported. */
  last(): string | null
  /** Resolves when the agent next reports this mode; earlier reports are ignored. */
  next(mode: string): Promise<void>
}

/** `onChange` gets every reported mode, in order. */
export function watchMode(onChange: (mode: string) => void): ModeWatch {
  const waiting = new Map<string, () => void>()
  let last: string | null = null
  return {
    reported(mode) {
      last = mode
      waiting.get(mode)?.()
      onChange(mode)
    },
    last: () => last,
    next(mode) {
      last = null
      return new Promise((resolve) => waiting.set(mode, resolve))
    },
  }
}

interface Present {
  limits: TimeLimits
  connection: AgentConnection
  sessionId: string
  offer: ModeOffer | null
  watch: ModeWatch
}

/** Sets the mode for planning. Rejects with a `RunnerFailure` unless the agent confirms it. */
export async function toPlanMode(
  present: Present,
  spec: AcpSpec,
  signal: AbortSignal,
): Promise<{ mode: string; how: string }> {
  const { offer } = present
  const mode = offer && planModeOf(offer, spec.named.plan)
  const asked = { ...present, title: spec.title, signal }
  const how = mode && (await setMode(asked, offer, mode))
  if (how) return { mode, how }
  const wanted = spec.named.plan === null ? '' : `, and casefile.md names ${spec.named.plan}`
  throw new RunnerFailure(
    `${spec.title} has no plan mode that can be confirmed (it offers: ${offered(offer)}${wanted}), so it may not plan`,
  )
}

/**
 * Sets the mode for work, or keeps the present one if it allows work. Returns the mode, or null if the agent does
 * not report one. Rejects with a `RunnerFailure` if the agent does not confirm the mode.
 */
export async function toWorkMode(
  present: Present,
  { title, named }: AcpSpec,
  signal: AbortSignal,
): Promise<string | null> {
  const { offer } = present
  if (!offer && named.work === null) return null
  const plan = offer && planModeOf(offer, named.plan)
  const mode = offer ? workModeOf(offer, { named: named.work, plan }) : 'none'
  if (mode !== 'none' && 'is' in mode) return mode.is
  if (offer && mode !== 'none' && (await setMode({ ...present, title, signal }, offer, mode.set)))
    return mode.set
  const wanted = mode === 'none' ? named.work : mode.set
  throw new RunnerFailure(
    wanted === null
      ? `${title} has no mode in which it asks before it acts (it offers: ${offered(offer)}); work_mode in casefile.md may name another`
      : `${title} could not be switched to its mode ${wanted} (it offers: ${offered(offer)})`,
  )
}

function offered(offer: ModeOffer | null): string {
  const ids = offer?.modes.map(({ id }) => id.slice(0, 100)).slice(0, 20) ?? []
  return ids.length > 0 ? ids.join(', ') : 'no modes'
}

/**
 * Sets a session's mode and reads it back, from the answer or from a report that follows. Returns how it was set, for
 * the audit trail; null if it was not confirmed.
 */
async function setMode(
  asked: Present & { title: string; signal: AbortSignal },
  offer: ModeOffer,
  mode: string,
): Promise<string | null> {
  const { sessionId, watch, signal, limits } = asked
  const set = async (method: string, params: object) => {
    const reported = watch.next(mode).then(() => true)
    const answer = await requestWithTimeout(limits.mode, asked, method, { sessionId, ...params })
    const said = modeIn(asRecord(answer).configOptions)
    return said === null ? (await withTimeout(limits.modeReport, reported)) === true : said === mode
  }
  const { option, hasModes, current } = offer
  if (current === mode && (watch.last() ?? mode) === mode) return `${mode} from the start`
  if (option !== null) {
    try {
      const isSet = await set('session/set_config_option', { configId: option, value: mode })
      return isSet ? `set by config option \`${option}\` to ${mode}, read back` : null
    } catch (error) {
      // some agents offer both ways, but implement only one
      if (!hasModes || signal.aborted || !(error instanceof RunnerFailure)) throw error
    }
  }
  const isSet = await set('session/set_mode', { modeId: mode })
  return isSet ? `set by session/set_mode to ${mode}, read back` : null
}
