import { AGENT_TITLES, type AgentName } from '../../model/agent-names.ts'
import type { PromptBy, StreamName } from '../../model/settings.ts'
import type { FindAgentHomePaths } from './agent-home-paths.ts'
import type { EnvRule } from './environment.ts'
import type { EventTable, ReportedRun } from './event-parser.ts'
import type { LoginCheck } from './login.ts'
import type { ReadOwnRecord } from './parser-kit.ts'
import type { AgentTools } from './tool-kinds.ts'
import type { AllowsUserTools, Env } from './user-tools.ts'

/** A known agent: how it runs as a command that gets a prompt, and what the events mean that it prints. */
export interface Agent extends CommandSpec {
  id: AgentName
  /** The versions that our tests have run with, oldest first. */
  seen: readonly string[]
  events(run: ReportedRun): EventTable
}

/** A program to find, run and judge, described as data. */
export interface AgentSpec {
  /** The provider's name. */
  id: string
  title: string
  /** The program's name on the PATH. */
  program: string
  /** The command that installs it. */
  install: string
  /** Variables of the service that it gets in addition to those of every step. */
  env: readonly EnvRule[]
  /** What it needs of the home folder to work; null for a program that is not known. */
  ownPlaces: FindAgentHomePaths | null
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
  /** Old versions with a known problem. */
  bad: readonly { below: string; why: string }[]
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
  stream: StreamName
  plan: CommandLine
  /** The command that resumes an earlier conversation to plan again; null if it cannot. */
  resume: CommandLine | null
  /** Null for a program that only plans. */
  work: CommandLine | null
  callHook?: CallHook
}

/** A hook before each call of a tool, also of its subagents. It gets the call, and answers with a denial or nothing. */
export interface CallHook {
  tools: AgentTools
  /** A denial in the agent's words. */
  deny(reason: string): object
  /** Starts the agent with the hook. `folder` gets the files; `env` is the environment without `line.env`. */
  start(command: string, run: { folder: string; env: Env }): HookedStart | Promise<HookedStart>
}

/** What a command line gets in addition. */
export interface HookedStart extends Pick<CommandLine, 'env' | 'files'> {
  args?: readonly string[]
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
  userPlaces?: AllowsUserTools
  /** Environment variables that apply only if the service does not set them. */
  defaultEnv?: Readonly<Record<string, string>>
  /** Files it needs: name to text. */
  files?: Readonly<Record<string, string>>
}

type WithDefaults<Spec, Required extends keyof Spec> = Pick<Spec, Required> & Partial<Spec>

export function agentSpec(
  fields: WithDefaults<AgentSpec, 'id' | 'title' | 'program' | 'planMode'>,
): AgentSpec {
  return {
    install: '',
    env: [],
    version: [],
    login: null,
    ownPlaces: null,
    bad: [],
    projectFiles: [],
    instructions: [],
    ...fields,
  }
}

export function commandSpec(
  fields: WithDefaults<CommandSpec, 'id' | 'title' | 'program' | 'stream' | 'plan' | 'planMode'>,
): CommandSpec {
  return { ...agentSpec(fields), version: ['--version'], resume: null, work: null, ...fields }
}

/** An agent whose program, provider and format of output have the name of its folder. */
export function knownAgent(
  name: AgentName,
  fields: WithDefaults<
    Omit<Agent, 'id' | 'title' | 'program' | 'stream'>,
    'seen' | 'events' | 'plan' | 'planMode'
  >,
): Agent {
  const { seen, events, ...others } = fields
  const own = { id: name, title: AGENT_TITLES[name], program: name, stream: name }
  return { ...commandSpec({ ...own, ...others }), id: name, seen, events }
}
