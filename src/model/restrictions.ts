/**
 * The settings that hold runs back or demand something. The file may always say more of them; to say less needs trust,
 * because a run can write the file.
 */

import type { SandboxSetting, Settings } from './settings.ts'

/** What was in force when a run began, or when casefile.md was last trusted. */
export type Restrictions = Pick<
  Settings,
  'hide' | 'cache' | 'sandbox' | 'checklist' | 'signApprovals' | 'isolation'
>

/** A restriction that casefile.md no longer has: its key there, and what it restricted. */
export interface Lifted {
  key: keyof typeof LIFTED
  names: readonly string[]
}

/** What each setting did, before its names. */
export const LIFTED = {
  hide: 'runs saw nothing of',
  cache: 'besides their folders, runs wrote to no more than',
  sandbox: 'runs were held back by',
  checklist: 'a new case had to prove',
  sign_approvals: 'an approval needed',
  isolation: 'sessions worked in',
}

/** Returns the settings with what they no longer restrict still restricted, and what that is. */
export function withRestrictions<S extends Restrictions>(
  settings: S,
  kept: Restrictions | null,
): { settings: S; lifted: Lifted[] } {
  if (kept === null) return { settings, lifted: [] }
  const lifted: Lifted[] = []
  const isLifted = (key: Lifted['key'], names: readonly string[]) =>
    names.length > 0 && lifted.push({ key, names }) > 0
  const result = { ...settings }
  const seen = without(kept.hide, settings.hide)
  if (isLifted('hide', seen)) result.hide = [...settings.hide, ...seen]
  const missing = without(kept.checklist, settings.checklist)
  if (isLifted('checklist', missing)) result.checklist = [...settings.checklist, ...missing]
  if (isWiderCache(settings.cache, kept.cache)) {
    const usual = ['the usual caches']
    isLifted(
      'cache',
      kept.cache === null ? usual : kept.cache.length > 0 ? kept.cache : ['no cache'],
    )
    result.cache = kept.cache
  }
  if (isWiderSandbox(settings.sandbox, kept.sandbox)) {
    isLifted('sandbox', typeof kept.sandbox === 'object' ? kept.sandbox.hosts : ['mounts'])
    result.sandbox = kept.sandbox
  }
  if (kept.signApprovals && !settings.signApprovals) {
    result.signApprovals = isLifted('sign_approvals', ['a signature'])
  }
  if (
    kept.isolation === 'worktree' &&
    isLifted('isolation', settings.isolation === 'worktree' ? [] : ['worktrees'])
  ) {
    result.isolation = 'worktree'
  }
  return { settings: result, lifted }
}

function isWiderCache(now: Restrictions['cache'], before: Restrictions['cache']): boolean {
  return now === null ? before !== null : without(now, before ?? []).length > 0
}

function isWiderSandbox(now: SandboxSetting, before: SandboxSetting): boolean {
  if (before === 'none') return false
  if (before === 'mounts') return now === 'none'
  return typeof now !== 'object' || without(now.hosts, before.hosts).length > 0
}

function without(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => !others.includes(name))
}
