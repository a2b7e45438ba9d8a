import { counted } from './amounts.ts'
import { lastOf, type TrailLine } from './trail.ts'

/** An action that an agent was denied: by its own rules, by the service, or by the operator's settings. */
export interface RefusedAction {
  time: string
  mode: 'plan' | 'work'
  tool: string
  /** The path, command or request, if the agent named it. */
  action: string | null
  reason: string
}

export interface RefusedActions {
  /** Number of denials during planning and during work. */
  plan: number
  work: number
  /** The first denials. */
  first: RefusedAction[]
}

/** Equal denials as one, with their number, in the order of the first of each. */
export function foldRefused<R extends Pick<RefusedAction, 'tool' | 'action' | 'reason'>>(
  actions: readonly R[],
): { action: R; times: number }[] {
  const folded = new Map<string, { action: R; times: number }>()
  for (const action of actions) {
    const key = JSON.stringify([action.tool, action.action, action.reason])
    const known = folded.get(key)
    if (known) known.times += 1
    else folded.set(key, { action, times: 1 })
  }
  return [...folded.values()]
}

/** At most this many are listed; the audit trail has all. */
export const MAX_REFUSED = 20

/** Collects from its audit trail what a session's agent was denied. */
export function refusedActions(trail: readonly TrailLine[]): RefusedActions {
  const approved = lastOf(trail, 'plan_approved')?.number ?? Number.POSITIVE_INFINITY
  const modeOf = ({ number }: TrailLine) => (number > approved ? 'work' : 'plan')
  const count = { plan: 0, work: 0 }
  for (const line of trail) {
    if (line.event === 'denied') count[modeOf(line)] += 1
    if (line.event !== 'notes_unlisted') continue
    const { denied } = line.fields
    if (typeof denied === 'number') count[modeOf(line)] += denied
  }
  const lines = trail.filter((line) => line.event === 'denied')
  // denials during work first, as they matter more for the result
  const first = [...lines.filter((line) => modeOf(line) === 'work'), ...lines].slice(0, MAX_REFUSED)
  return {
    ...count,
    first: [...new Set(first)].map((line) => ({
      time: line.time,
      mode: modeOf(line),
      tool: textOf(line.fields.tool) ?? 'a tool',
      action: textOf(line.fields.title),
      reason: textOf(line.fields.reason) ?? '',
    })),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Describes a denied action in one line: `Write /etc/hosts`. */
export function refusedText({ tool, action }: Pick<RefusedAction, 'tool' | 'action'>): string {
  return action === null ? tool : `${tool} ${action}`
}

/** Returns `2 actions were denied`; empty if none was. */
export function refusedCount(count: number): string {
  return count === 0 ? '' : `${counted(count, 'action')} ${count === 1 ? 'was' : 'were'} denied`
}
