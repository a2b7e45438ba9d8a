import type { PromptBy, StreamName } from '../../model/settings.ts'
import type { AgentSpec } from '../agents/agent-spec.ts'
import type { AllowsUserPlaces } from '../agents/user-places.ts'

/** A program that gets a prompt, does what it says, prints what it has to say, and ends. */
export interface CommandSpec extends AgentSpec {
  kind: 'command'
  stream: StreamName
  plan: CommandLine
  /** Plans again, in an earlier conversation; null where it cannot. */
  resume: CommandLine | null
  /** Null for one that only plans. */
  work: CommandLine | null
}

export interface CommandLine {
  /**
   * The program and its arguments. In place of `{args}` come the user's own; `{id}` is a new UUID for
   * the conversation, `{session}` the agent's id of an earlier one, `{folder}` that of `files`, `{untrusted_projects}`
   * a TOML table in which Codex is told to trust no folder from the working folder upwards.
   */
  argv: readonly string[]
  prompt: PromptBy
  /** Nothing is replaced in it but `{prompt}` or `{prompt_file}`, whichever `prompt` asks for. */
  isLiteral?: true
  env?: Readonly<Record<string, string>>
  /** Lets it use what its user set up. */
  userPlaces?: AllowsUserPlaces
  /** Environment that it gets where the service has no such variable. */
  defaultEnv?: Readonly<Record<string, string>>
  /** Texts of files that it needs, by name. */
  files?: Readonly<Record<string, string>>
}

export type Placeholder =
  | 'prompt'
  | 'prompt_file'
  | 'id'
  | 'session'
  | 'folder'
  | 'untrusted_projects'

/** The words of a command with everything in its place; a prompt that has none comes last. */
export function wordsOf(
  { argv, prompt, isLiteral }: CommandLine,
  values: Readonly<Record<Placeholder, string>>,
  args: readonly string[],
): string[] {
  const slot = { stdin: null, argument: 'prompt', file: 'prompt_file' } as const
  const own = slot[prompt]
  const isReplaced = (name: string): name is Placeholder =>
    isLiteral ? name === own : Object.hasOwn(values, name)
  const filled = (word: string) =>
    word.replace(/\{(\w+)\}/g, (whole, name: string) => (isReplaced(name) ? values[name] : whole))
  const words = argv.flatMap((word) => (word === '{args}' && !isLiteral ? args : [filled(word)]))
  const hasPrompt = own === null || argv.some((word) => word.includes(`{${own}}`))
  return hasPrompt ? words : [...words, values[own]]
}
