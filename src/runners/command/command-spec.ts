import type { PromptBy, StreamName } from '../../model/settings.ts'
import type { AgentSpec } from '../agents/agent-spec.ts'
import type { AllowsUserPlaces } from '../agents/user-places.ts'

/** A program that gets a prompt, does the work, prints its answer, and exits. */
export interface CommandSpec extends AgentSpec {
  kind: 'command'
  stream: StreamName
  plan: CommandLine
  /** The command that resumes an earlier conversation to plan again; null if it cannot. */
  resume: CommandLine | null
  /** Null for a program that only plans. */
  work: CommandLine | null
}

export interface CommandLine {
  /**
   * The program and its arguments, with placeholders. `{args}`: the user's own arguments. `{id}`: a new UUID for
   * the conversation. `{session}`: the id of an earlier one. `{folder}`: the folder with `files`.
   * `{untrusted_projects}`: a TOML table that tells Codex to trust no folder from the working folder upwards.
   */
  argv: readonly string[]
  prompt: PromptBy
  /** Only `{prompt}` or `{prompt_file}` is replaced, whichever `prompt` asks for. */
  isLiteral?: true
  env?: Readonly<Record<string, string>>
  /** How it gets access to what the user set up. */
  userPlaces?: AllowsUserPlaces
  /** Environment variables that apply only if the service does not set them. */
  defaultEnv?: Readonly<Record<string, string>>
  /** Files it needs: name to text. */
  files?: Readonly<Record<string, string>>
}

export type Placeholder =
  | 'prompt'
  | 'prompt_file'
  | 'id'
  | 'session'
  | 'folder'
  | 'untrusted_projects'

/** The command's words with placeholders filled in. A prompt without a placeholder comes last. */
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
