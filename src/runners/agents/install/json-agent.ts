import { quoteForShell } from '../../shell-quote.ts'
import type { AgentHooks } from './agent-hooks.ts'
import { type HookTarget, isHookCommand } from './hook-command.ts'
import { type HookGroup, ownGroups, withGroups, withoutOwn } from './json-hooks.ts'

/** An agent that has its hooks in a JSON file, like Claude Code. */
export function jsonAgent(
  agent: Pick<AgentHooks, 'id' | 'title' | 'program' | 'files'>,
  groups: (target: HookTarget) => HookGroup[],
): AgentHooks {
  /** A user's settings may have the hooks of other workspaces too. */
  const isOwn =
    ({ isUser, script }: HookTarget) =>
    (command: string) =>
      isHookCommand(agent.id, command) && (!isUser || command.includes(quoteForShell(script)))
  return {
    ...agent,
    add: (text, path, target) => withGroups(text ?? '', path, groups(target)),
    remove: (text, path, target) => withoutOwn(text, path, isOwn(target)),
    find(text, path, target) {
      const found = ownGroups(text, path, isOwn(target))
      return found.length === 0 ? null : JSON.stringify(found)
    },
  }
}
