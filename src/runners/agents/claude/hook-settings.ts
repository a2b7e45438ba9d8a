import type { HookGroup } from '../install/json-hooks.ts'

/** The text of settings that have only these hooks; `claude --settings` adds them to the user's own. */
export function hookSettings(groups: readonly HookGroup[]): string {
  const hooks = Object.fromEntries(groups.map(({ event, group }) => [event, [group]]))
  return `${JSON.stringify({ hooks }, null, 2)}\n`
}
