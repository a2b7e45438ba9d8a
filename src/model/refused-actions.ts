import { counted } from './amounts.ts'
import { lastOf, type TrailLine } from './trail.ts'

/** Something that an agent wanted to do and was not allowed to: by its own rules, by the service, or by the operator's settings. */
export interface RefusedAction {
  time: string
  mode: 'plan' | 'work'
  tool: string
  /** The path, command or request, as far as the agent named it. */
  action: string | null
  reason: string
}

export interface RefusedActions {
  /** How many while it planned, and at work. */
  plan: number
  work: number
  /** The first ones. */
  first: RefusedAction[]
}

/** As many are listed; the trail has the others. */
export const MAX_REFUSED = 20

/** What a session's agent was refused in all, from its trail. */
export function refusedActions(trail: readonly TrailLine[]): RefusedActions {
  const approved = lastOf(trail, 'plan_approved')?.number ?? Number.POSITIVE_INFINITY
  const modeOf = ({ number }: TrailLine) => (number > approved ? 'work' : 'plan')
  const count = { plan: 0, work: 0 }
  for (const line of trail) {
    const { denied } = line.fields
    if (line.event === 'denied') count[modeOf(line)] += 1
    if (line.event === 'notes_unlisted' && typeof denied === 'number') count[modeOf(line)] += denied
  }
  const lines = trail.filter(({ event }) => event === 'denied')
  // what was refused at work is what a reader of the result needs
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

/** `Write /etc/hosts`: what was refused, in a line. */
export function refusedText({ tool, action }: Pick<RefusedAction, 'tool' | 'action'>): string {
  return action === null ? tool : `${tool} ${action}`
}

/** `2 actions were refused`; empty where none was. */
export function refusedCount(count: number): string {
  return count === 0 ? '' : `${counted(count, 'action')} ${count === 1 ? 'was' : 'were'} refused`
}
