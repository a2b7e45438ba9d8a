import type { AgentRetry } from '../../model/agent-retry.ts'
import type { PromptBy, StreamName } from '../../model/settings.ts'
import type { EnvRule } from './environment.ts'
import type { LoginCheck } from './login.ts'
import type { FindOwnPlaces } from './own-places.ts'
import type { CreateParser, OutputParser, ReadOwnRecord } from './parser-kit.ts'
import type { UnknownRecord } from './unknown-record.ts'
import type { AllowsUserPlaces } from './user-places.ts'

/** A known agent. Its own file has everything that is true of it alone; registry.ts lists them. */
export interface Agent {
  /** How it runs as a command that gets a prompt. */
  command: CommandSpec
  /** Parses what the command prints. */
  createParser: CreateParser
  /** How it runs by the Agent Client Protocol; null if it does not speak it. */
  acp: AcpSpec | null
}

/** A program to find, run and judge, described as data. */
export interface AgentSpec {
  /** The provider's name. */
  id: string
  kind: 'command' | 'acp'
  title: string
  /** The program's name on the PATH. */
  program: string
  /** The command that installs it. */
  install: string
  /** Variables of the service that it gets in addition to those of every step. */
  env: readonly EnvRule[]
  /** What it needs of the home folder to work; null for a program that is not known. */
  ownPlaces: FindOwnPlaces | null
  /** Files that it writes into each working folder when it starts. Nothing reads them but the agent. */
  leaves?: readonly string[]
  /** Arguments that print its version. */
  version: readonly string[]
  /** How to find out whether its user is logged in; null for a program that is not known. */
  login: LoginCheck | null
  /**
   * Files of a project that it acts on by itself (hooks, servers, endpoints) and that it cannot be told to ignore.
   * The operator must trust them first. They are looked up in the working folder and above; a name ending in `/` is
   * a folder with everything in it. Measured, see docs/security.md.
   */
  projectFiles: readonly string[]
  /**
   * Names of instruction files that it cannot read by itself, so that the prompt includes them. The first existing
   * file of each group is used, in the working folder and in each folder above.
   */
  instructions: readonly (readonly string[])[]
  /** Old versions with a known problem; `advice` is a sentence on what to do. */
  bad: readonly { below: string; why: string; advice?: string }[]
  /** Reads its own record of a conversation, if that has actions the agent does not report. */
  readRecord?: ReadOwnRecord
  /** How strict its own plan mode is, as measured (docs/agents.md). */
  planMode: PlanModeStrength
}

export interface PlanModeStrength {
  /**
   * `sandbox`: the operating system blocks writes; `tools`: tools that write are removed; `asks`: it asks before it
   * writes; `advice`: only instructions; `none`: no plan mode.
   */
  holds: 'sandbox' | 'tools' | 'asks' | 'advice' | 'none'
  /** One sentence. */
  note: string
}

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

/** An agent that speaks the Agent Client Protocol over its standard streams. */
export interface AcpSpec extends AgentSpec {
  kind: 'acp'
  /** The arguments that make the program speak the protocol. */
  args: readonly string[]
  /**
   * Mode ids as measured; null if the mode is found by its name, or not changed. An agent whose writing tools are
   * removed plans in its ordinary mode, because the instructions of its plan mode (write the plan to a file, ask,
   * begin) contradict our prompt. That must be a mode in which it asks.
   */
  modes: { plan: string | null; work: string | null }
  /** Modes that the operator names in casefile.md. */
  named: { plan: string | null; work: string | null }
  /** Environment variables that override the service's. */
  fixedEnv: Readonly<Record<string, string>>
  /** Environment variables that apply only if the service does not set them. */
  defaultEnv: Readonly<Record<string, string>>
  /** Additional environment variables in plan mode; `workEnv` in work mode. */
  planEnv: Readonly<Record<string, string>>
  workEnv: Readonly<Record<string, string>>
  /** Additional arguments in plan mode; `{folder}` is the folder with `planFiles`. */
  planArgs: readonly string[]
  /** Files that it needs in plan mode: name to text. */
  planFiles: Readonly<Record<string, string>>
  /** The tools allowed in plan mode, if the agent reports its tools; else null. */
  planTools: readonly string[] | null
  /** What it may use of the user's own setup in work mode. */
  userPlaces: AllowsUserPlaces
  /** `_meta` of session/new in each mode; `unbounded` is for an unrestricted mode that the operator names. */
  meta: { plan: Meta | null; work: Meta | null; unbounded: Meta | null }
  /** Whether the `usage` of its answer covers the whole turn; else it is ignored. */
  countsTurn: boolean
  /** It ends its turn at a denied action, and continues without the action only if asked. */
  endsAtDenial: boolean
  /**
   * Whether a text that is only an error fails the turn: a `chunk` of the answer, the whole `answer`, or never, because
   * the agent reports errors in the protocol's fields.
   */
  errorsAsText: 'chunk' | 'answer' | 'never'
  /** Reads a message that is a report instead of an answer; null for any other text. */
  readText(text: string): OwnReport | null
  /** Reads fields of its own in an update, and notifications of its own; null if there is nothing to report. */
  readUpdate(update: UnknownRecord): OwnReport | null
  readNotification(method: string, params: UnknownRecord): OwnReport | null
  /**
   * Why its own rules or sandbox denied a call that failed; null for any other failure. `printed` is what the call
   * printed, `said` is the text of its content.
   */
  readDenial(update: UnknownRecord, texts: { printed: string; said: string }): Denial | null
  /** Reads what a tool answered: the exit code that the update has, and the text without notes for the model. */
  readAnswer(update: UnknownRecord, text: string): { text: string; exit?: number | undefined }
  /**
   * Reads the lines a run writes to standard error. `hasProgress`: whether the agent said or did anything since the
   * last call.
   */
  openLog: ((hasProgress: () => boolean) => NonNullable<OutputParser['errorLine']>) | null
}

type Meta = Readonly<Record<string, unknown>>

/** What an agent reports by ways of its own. */
export interface OwnReport {
  /** It asks its model again. */
  retry?: AgentRetry
  /** Its turn has failed, or goes on after all. */
  turn?: 'failed' | 'active'
  /** The tools that it has. */
  tools?: readonly unknown[]
  /** The mode that it is in. */
  mode?: string
  /** It is text to show that is not part of the answer. */
  isNotice?: true
}

export interface Denial {
  reason: string
  /** What was denied, if only the reason says so. */
  action?: string | undefined
}

type WithDefaults<Spec, Required extends keyof Spec> = Pick<Spec, Required> & Partial<Spec>

export function commandSpec(
  fields: WithDefaults<
    Omit<CommandSpec, 'kind'>,
    'id' | 'title' | 'program' | 'stream' | 'plan' | 'planMode'
  >,
): CommandSpec {
  return {
    install: '',
    env: [],
    version: ['--version'],
    login: null,
    ownPlaces: null,
    bad: [],
    projectFiles: [],
    instructions: [],
    resume: null,
    work: null,
    ...fields,
    kind: 'command',
  }
}

export function acpSpec(
  fields: WithDefaults<Omit<AcpSpec, 'kind'>, 'id' | 'title' | 'program' | 'args' | 'planMode'>,
): AcpSpec {
  return {
    install: '',
    env: [],
    version: ['--version'],
    login: null,
    ownPlaces: null,
    bad: [],
    projectFiles: [],
    instructions: [],
    modes: { plan: null, work: null },
    named: { plan: null, work: null },
    fixedEnv: {},
    defaultEnv: {},
    planEnv: {},
    workEnv: {},
    planArgs: [],
    planFiles: {},
    planTools: null,
    userPlaces: { allow: () => ({}) },
    meta: { plan: null, work: null, unbounded: null },
    countsTurn: true,
    endsAtDenial: false,
    errorsAsText: 'never',
    readText: () => null,
    readUpdate: () => null,
    readNotification: () => null,
    readDenial: () => null,
    readAnswer: (_, text) => ({ text }),
    openLog: null,
    ...fields,
    kind: 'acp',
  }
}
