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
export interface RemovedRestriction {
  key: keyof typeof NO_LONGER
  names: readonly string[]
}

/** What casefile.md no longer does, by these names. */
export const NO_LONGER = {
  hide: (names: string) => `hides ${names} from runs`,
  cache: (names: string) => `limits runs to writing to ${names} besides their folders`,
  sandbox: (names: string) => `limits runs to ${names}`,
  checklist: (names: string) => `requires ${names} of a new case`,
  sign_approvals: () => 'requires a signature for approvals',
  isolation: () => 'runs sessions in worktrees',
}

/** Returns the settings with the previous restrictions that they lack, and which those are. */
export function withRestrictions<S extends Restrictions>(
  settings: S,
  previous: Restrictions | null,
): { settings: S; removed: RemovedRestriction[] } {
  if (previous === null) return { settings, removed: [] }
  const removed: RemovedRestriction[] = []
  const result = { ...settings }
  const hide = difference(previous.hide, settings.hide)
  if (hide.length > 0) {
    removed.push({ key: 'hide', names: hide })
    result.hide = [...settings.hide, ...hide]
  }
  const checklist = difference(previous.checklist, settings.checklist)
  if (checklist.length > 0) {
    removed.push({ key: 'checklist', names: checklist })
    result.checklist = [...settings.checklist, ...checklist]
  }
  if (isWiderCache(settings.cache, previous.cache)) {
    removed.push({
      key: 'cache',
      names: namesOf(previous.cache ?? ['the usual caches'], 'no cache'),
    })
    result.cache = previous.cache && common(settings.cache ?? previous.cache, previous.cache)
  }
  if (isWiderSandbox(settings.sandbox, previous.sandbox)) {
    const now = hostsOf(settings.sandbox)
    const before = hostsOf(previous.sandbox)
    removed.push({ key: 'sandbox', names: namesOf(before ?? ['mounts'], 'no host') })
    result.sandbox = now && before ? { hosts: common(now, before) } : previous.sandbox
  }
  if (previous.signApprovals && !settings.signApprovals) {
    removed.push({ key: 'sign_approvals', names: ['a signature'] })
    result.signApprovals = true
  }
  if (previous.isolation === 'worktree' && settings.isolation !== 'worktree') {
    removed.push({ key: 'isolation', names: ['worktrees'] })
    result.isolation = 'worktree'
  }
  return { settings: result, removed }
}

function isWiderCache(now: Restrictions['cache'], before: Restrictions['cache']): boolean {
  return now === null ? before !== null : difference(now, before ?? []).length > 0
}

function isWiderSandbox(now: SandboxSetting, before: SandboxSetting): boolean {
  if (before === 'none') return false
  if (before === 'mounts') return now === 'none'
  return typeof now !== 'object' || difference(now.hosts, before.hosts).length > 0
}

function hostsOf(sandbox: SandboxSetting): readonly string[] | null {
  return typeof sandbox === 'object' ? sandbox.hosts : null
}

function namesOf(names: readonly string[], none: string): readonly string[] {
  return names.length > 0 ? names : [none]
}

function common(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => others.includes(name))
}

function difference(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => !others.includes(name))
}
