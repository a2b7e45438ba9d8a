import { counted } from './amounts.ts'
import { lastOf, type TrailLine } from './trail.ts'

/** What a plan limits its work to. Null is no limit; an empty list allows nothing. */
export interface PlanScope {
  /** Globs, relative to the working folder. */
  paths: string[] | null
  /** The first words of the commands that may run. */
  commands: string[] | null
}

export const SCOPE_KEYS = ['paths', 'commands'] as const satisfies (keyof PlanScope)[]

export function isUnlimited({ paths, commands }: PlanScope): boolean {
  return paths === null && commands === null
}

/** The scope for people: one line for each list that the plan has. */
export function scopeLines(scope: PlanScope): string[] {
  return SCOPE_KEYS.flatMap((key) => {
    const entries = scope[key]
    return entries ? [`${key}: ${entries.join(', ') || 'none'}`] : []
  })
}

/** Returns `2 files outside the scope changed`; empty if there are none. */
export function outOfScopeText(trail: readonly TrailLine[]): string {
  const more = lastOf(trail, 'out_of_scope')?.fields.more
  const count = outOfScopeFiles(trail).length + (typeof more === 'number' ? more : 0)
  return count === 0 ? '' : `${counted(count, 'file')} outside the scope changed`
}

/** The files outside the scope of the plan that changed during the run, as the audit trail names them. */
export function outOfScopeFiles(trail: readonly TrailLine[]): string[] {
  const files = lastOf(trail, 'out_of_scope')?.fields.files
  return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : []
}
