import { counted } from './amounts.ts'
import { lastOf, type TrailLine } from './trail.ts'

/** What a plan limits its work to. Null is no limit; an empty list allows nothing. */
export interface PlanScope {
  /** Globs, relative to the working folder. */
  paths: string[] | null
  /** The first words of the commands that may run. */
  commands: string[] | null
  /** A standing intent approved it, so hidden files are never within, and commands only exactly as they stand. */
  isStanding?: boolean
}

export const SCOPE_KEYS = ['paths', 'commands'] as const satisfies (keyof PlanScope)[]

export function isUnlimited({ paths, commands }: PlanScope): boolean {
  return paths === null && commands === null
}

/** Whether a path or glob leads into a `.git` folder, where git keeps hooks and settings. */
export function isInGit(path: string): boolean {
  return path.toLowerCase().split('/').includes('.git')
}

/** The scope for people: one line for each list that the plan has. */
export function scopeLines(scope: PlanScope): string[] {
  return SCOPE_KEYS.flatMap((key) => {
    const entries = scope[key]
    return entries ? [`${key}: ${entries.join(', ') || 'none'}`] : []
  })
}

/** Returns `2 files outside the scope changed and 1 call outside it ran`; empty if there are none. */
export function outOfScopeText(trail: readonly TrailLine[]): string {
  const more = lastOf(trail, 'out_of_scope')?.fields.more
  const count = outOfScopeFiles(trail).length + (typeof more === 'number' ? more : 0)
  const calls = outOfScopeCalls(trail).filter(({ ran }) => ran).length
  const texts = [
    count === 0 ? '' : `${counted(count, 'file')} outside the scope changed`,
    calls === 0 ? '' : `${counted(calls, 'call')} outside the scope ran`,
  ]
  return texts.filter((text) => text !== '').join(' and ')
}

/** A call outside the scope of the plan, which the agent asked its person about. */
export interface OutOfScopeCall {
  tool: string
  /** The path or command, if the agent named it. */
  action: string | null
  reason: string
  /** Whether it was heard to run: the person allowed it. */
  ran: boolean
}

/** At most this many are listed; the audit trail has all. */
const MAX_CALLS = 20

/** The calls outside the scope that the agent asked its person about. Those that ran come first. */
export function outOfScopeCalls(trail: readonly TrailLine[]): OutOfScopeCall[] {
  const calls = new Map<string, OutOfScopeCall>()
  for (const { event, fields } of trail) {
    if (event !== 'asked' && event !== 'tool_call') continue
    const tool = String(fields.tool)
    const action = typeof fields.title === 'string' ? fields.title : null
    const name = JSON.stringify([tool, action])
    const known = calls.get(name)
    if (event === 'tool_call' && known) known.ran = true
    if (event === 'tool_call' || known) continue
    calls.set(name, { tool, action, reason: String(fields.reason), ran: false })
  }
  const all = [...calls.values()]
  return [...all.filter(({ ran }) => ran), ...all.filter(({ ran }) => !ran)].slice(0, MAX_CALLS)
}

/** Returns `ran, allowed in the agent's dialog`, or that it was not. */
export function callResult({ ran }: Pick<OutOfScopeCall, 'ran'>): string {
  return ran ? "ran, allowed in the agent's dialog" : 'asked about, and not heard to run'
}

/** The files outside the scope of the plan that changed during the run, as the audit trail names them. */
export function outOfScopeFiles(trail: readonly TrailLine[]): string[] {
  const files = lastOf(trail, 'out_of_scope')?.fields.files
  return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : []
}
