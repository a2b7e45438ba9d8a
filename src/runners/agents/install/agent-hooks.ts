import { AGENT_TITLES, type AgentName } from '../../../model/agent-names.ts'
import { AppError } from '../../../model/app-error.ts'
import { quoteForShell } from '../../shell-quote.ts'
import { type HookKind, type HookTarget, hookCommand, isHookCommand } from './hook-command.ts'
import { type HookGroup, ownGroups, withGroups, withoutOwn } from './json-hooks.ts'
import type { HookTrial } from './trial-calls.ts'

/** Settings of one person in a project, of everybody in it, or of one person in all projects. */
export const HOOK_SCOPES = ['local', 'project', 'user'] as const
export type HookScope = (typeof HOOK_SCOPES)[number]

export interface Homes {
  root: string
  environment: NodeJS.ProcessEnv
  /** Tells workspaces apart in a user's settings. */
  key: string
}

/** Why an agent runs none of its hooks. `not_trusted`: by the agent. */
export interface Obstacle {
  level: 'not_trusted' | 'switched_off'
  reason: string
}

/** How the hooks of one agent get into its settings, and how they run there. */
export interface AgentHooks {
  id: AgentName
  /** The agent's name for people. */
  title: string
  /** The file of each place; the first is the default. */
  files: Partial<Record<HookScope, (homes: Homes) => string>>
  /** Adds the hooks to settings without them; null is a missing file. Pure, as are the next two. */
  add(text: string | null, path: string, target: HookTarget): string
  /** Takes them out, by their lines; null if the file is all Casefile's. */
  remove(text: string, path: string, target: HookTarget): string | null
  /** The hooks in the settings as one text, to compare them; null if there are none. */
  find(text: string, path: string, target: HookTarget): string | null
  /** The settings of another agent that it reads too. */
  alsoReads?: { agent: AgentName; place: HookScope; file: string }
  /** What the agent asks for besides its settings. */
  obstacle?(file: string, homes: Homes): Promise<Obstacle | null>
  /** When a tool runs although Casefile has not answered, with these hooks. */
  failsOpen: string
  trial: HookTrial
  /** The arguments that start the agent with hooks that are not installed anywhere. They come before the person's. */
  runArguments?(stateDir: string, target: HookTarget): Promise<string[]>
}

type Described = Omit<AgentHooks, 'id' | 'title' | 'add' | 'remove' | 'find'>

/** An agent that has its hooks in a JSON file, like Claude Code. */
export function jsonAgent(
  id: AgentName,
  agent: Described,
  groups: (target: HookTarget) => HookGroup[],
): AgentHooks {
  /** A user's settings may have the hooks of other workspaces too. */
  const isOwn =
    ({ isUser, script }: HookTarget) =>
    (command: string) =>
      isHookCommand(id, command) && (!isUser || command.includes(quoteForShell(script)))
  return {
    id,
    title: AGENT_TITLES[id],
    ...agent,
    add: (text, path, target) => withGroups(text ?? '', path, groups(target)),
    remove: (text, path, target) => withoutOwn(text, path, isOwn(target)),
    find(text, path, target) {
      const found = ownGroups(text, path, isOwn(target))
      return found.length === 0 ? null : JSON.stringify(found)
    },
  }
}

/** An agent whose hooks are in a file of their own. */
export function fileAgent(
  id: AgentName,
  agent: Described,
  { textOf, isOwn }: { textOf: (target: HookTarget) => string; isOwn: (text: string) => boolean },
): AgentHooks {
  return {
    id,
    title: AGENT_TITLES[id],
    ...agent,
    add(text, path, target) {
      if (text === null || isOwn(text)) return textOf(target)
      const message = `${path} is not Casefile's, so nothing was written. Move it away, then run this again.`
      throw new AppError('already_exists', message)
    },
    remove: (text) => (isOwn(text) ? null : text),
    find: (text) => (isOwn(text) ? text : null),
  }
}

/** A hook that Casefile installs. */
export interface HookEntry {
  event: string
  matcher?: string
  kind: HookKind
  timeoutS?: number
}

const SHORT_S = 30

/** The command of a hook, and how long the agent may wait for it. */
export function lineOf(
  target: HookTarget,
  agent: string,
  { kind, timeoutS = SHORT_S }: HookEntry,
  { denial, more = [] }: { denial: string; more?: readonly string[] },
): { command: string; timeoutS: number } {
  const command = hookCommand(target, { agent, kind, more: [...more, '$PPID'], denial })
  return { command, timeoutS }
}

/** The hooks of an agent whose settings are like Claude's; `hookOf` writes one of them. */
export function groupsOf(
  agent: string,
  entries: readonly HookEntry[],
  denialOf: (target: HookTarget) => string,
  hookOf: (command: string, timeoutS: number) => HookGroup['group']['hooks'][number] = (
    command,
    timeout,
  ) => ({ type: 'command', command, timeout }),
): (target: HookTarget) => HookGroup[] {
  return (target) =>
    entries.map((entry) => {
      const { event, matcher } = entry
      const { command, timeoutS } = lineOf(target, agent, entry, { denial: denialOf(target) })
      const hooks = [hookOf(command, timeoutS)]
      return { event, group: { ...(matcher === undefined ? {} : { matcher }), hooks } }
    })
}
