import type { HookTarget } from './hook-command.ts'

/** Settings of one person in a project, of everybody in it, or of one person in all projects. */
export const PLACES = ['local', 'project', 'user'] as const
export type Place = (typeof PLACES)[number]

export interface Homes {
  root: string
  environment: NodeJS.ProcessEnv
  /** Tells workspaces apart in a user's settings. */
  key: string
}

/** How the hooks of one agent are written into its settings. The functions are pure. */
export interface AgentHooks {
  id: string
  /** The agent's name for people. */
  title: string
  /** The program, to find out whether it is installed. */
  program: string
  /** The file of each place; the first is the default. */
  files: Partial<Record<Place, (homes: Homes) => string>>
  /** Adds the hooks to settings without them; null is a missing file. */
  add(text: string | null, path: string, target: HookTarget): string
  /** Takes them out; null if nothing else was in the file. */
  remove(text: string, path: string, target: HookTarget): string | null
  /** The hooks in the settings as one text, to compare them; null if there are none. */
  find(text: string, path: string, target: HookTarget): string | null
}
