import { dirname } from 'node:path'
import { readJsonFile } from '../../../files/json-file.ts'
import { modelName, tokenCount } from '../../../model/usage.ts'
import { type CommandLine, knownAgent } from '../agent.ts'
import { type AgentUsage, modelNames, NO_USAGE, rowsOf, tokenSums } from '../agent-usage.ts'
import { createBoundedMap } from '../bounded-map.ts'
import { GOOGLE_ENV, NETWORK_ENV } from '../environment.ts'
import type { EventTable, ReportedRun } from '../event-parser.ts'
import { failedOutcome } from '../parser-kit.ts'
import { toolFacts } from '../tool-kinds.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import type { AllowsUserTools, Env } from '../user-tools.ts'
import { GEMINI_LOGIN, geminiHome } from './home.ts'
import { geminiDialect } from './hooks.ts'
import { GEMINI_TOOLS } from './tools.ts'

const INSTALL = 'npm install -g @google/gemini-cli'
const ENV = [...GOOGLE_ENV, ...NETWORK_ENV]
const PLAN_MODE = {
  holds: 'tools',
  note: 'A policy allows only tools that read and search files.',
} as const

/** What it reads with `--skip-trust`. In 0.61 its policies are turned off. */
const PROJECT_FILES = ['.env', '.gemini/.env', '.gemini/policies/', '.gemini/agents/']

/**
 * A policy that limits its tools in plan mode: denied tools are not offered to its model. Its own plan mode is not
 * used, because it tells the model to write the plan to a file, in phases, and to ask questions.
 */
const PLAN_POLICY = `[[rule]]
toolName = "*"
decision = "deny"
priority = 998

[[rule]]
toolName = ["read_file", "read_many_files", "list_directory", "grep_search", "glob"]
decision = "allow"
priority = 999
`

/** The mode `auto_edit` has no shell. The first rule adds one; `yolo` would allow much more. */
const WORK_POLICY = `[[rule]]
toolName = ["run_shell_command", "web_fetch"]
decision = "allow"
priority = 900

[[rule]]
toolName = "enter_plan_mode"
decision = "deny"
priority = 900
`

/** It has no MCP servers in an untrusted folder. */
const USER_PLACES: AllowsUserTools = {
  allow: ({ scratch }) => ({ args: scratch === null ? [] : ['--include-directories', scratch] }),
}

// set while it reads its settings, so that it uses none of the project's, whatever the user trusts
const UNTRUSTED = { GEMINI_CLI_TRUST_WORKSPACE: 'false' }
// without --skip-trust it exits at once in a folder that was never trusted
const START = ['gemini', '{args}', '-o', 'stream-json', '--skip-trust']

function line(policy: string, ...argv: string[]): CommandLine {
  return {
    argv: [...START, '--policy', '{folder}/policy.toml', ...argv],
    prompt: 'stdin',
    env: UNTRUSTED,
    files: { 'policy.toml': policy },
  }
}

const PLANNING = ['--approval-mode', 'default']

/** Gemini CLI, as of 0.61.0. */
export const gemini = knownAgent('gemini', {
  seen: ['0.61.0'],
  install: INSTALL,
  login: GEMINI_LOGIN,
  ownPlaces: (environment) => ({ paths: [geminiHome(environment)], files: [] }),
  env: ENV,
  projectFiles: PROJECT_FILES,
  planMode: PLAN_MODE,
  plan: line(PLAN_POLICY, ...PLANNING, '--session-id', '{id}'),
  resume: line(PLAN_POLICY, ...PLANNING, '--resume', '{session}'),
  work: {
    ...line(WORK_POLICY, '--approval-mode', 'auto_edit', '--session-id', '{id}'),
    userPlaces: USER_PLACES,
  },
  events: geminiEvents,
  callHook: {
    tools: GEMINI_TOOLS,
    deny: geminiDialect.deny,
    async start(command, { folder, env }) {
      const text = JSON.stringify(await defaultsWith(command, env))
      return {
        env: { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: `${folder}/defaults.json` },
        files: { 'defaults.json': text },
      }
    },
  },
})

/** Of Linux and of macOS. */
const SYSTEM_FOLDERS = ['/etc/gemini-cli', '/Library/Application Support/GeminiCli']

/**
 * The defaults of the system with our hook, the only settings besides the user's that it reads in an untrusted folder.
 * The hooks of all settings run.
 */
async function defaultsWith(command: string, env: Env): Promise<UnknownRecord> {
  const { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: named, GEMINI_CLI_SYSTEM_SETTINGS_PATH: beside } = env
  const folders = beside ? [dirname(beside)] : SYSTEM_FOLDERS
  const files = named ? [named] : folders.map((folder) => `${folder}/system-defaults.json`)
  const found = await Promise.all(files.map(readJsonFile))
  const defaults = asRecord(found.find((each) => each !== null))
  const hooks = asRecord(defaults.hooks)
  // milliseconds
  const hook = { name: 'casefile', type: 'command', command, timeout: 60_000 }
  const BeforeTool = [...asArray(hooks.BeforeTool), { matcher: '.*', hooks: [hook] }]
  return { ...defaults, hooks: { ...hooks, BeforeTool } }
}

/** A denial by one of its rules, by how its text begins; some have no type that says so (0.61). */
const RULE_DENIAL = /^(?:Path not in workspace:|Tool execution for ".*" denied by policy)/

/** Whether a path is a plan in its own plans folder, the only place its plan mode writes to. */
function isPlanFile(path: unknown): boolean {
  return typeof path === 'string' && /[\\/]plans[\\/][^\\/]+\.md$/.test(path)
}

const DENIED_TYPES = ['policy_violation', 'path_not_in_workspace', 'sandbox_expansion_required']

/** What `gemini -o stream-json` prints, as of 0.61. */
function geminiEvents(run: ReportedRun): EventTable {
  /** Plans that it writes to its own plans folder, by call. */
  const plans = createBoundedMap<string>()
  return {
    on: {
      init({ model, session_id }) {
        run.usage = { ...NO_USAGE, model: modelName(model) }
        run.session(session_id)
      },
      message({ role, delta, content }) {
        if (role !== 'assistant') return
        if (delta === true) run.sayPart(content)
        else run.say(content)
      },
      tool_use({ tool_id, tool_name, parameters }) {
        run.messages.close()
        const tool = asString(tool_name) ?? ''
        const { todos, file_path, content } = asRecord(parameters)
        if (tool === 'write_todos') return run.list(todos, 'description')
        const plan = tool === 'write_file' && isPlanFile(file_path) ? asString(content) : null
        if (plan !== null) plans.set(String(tool_id), plan)
        run.call(tool_id, toolFacts(GEMINI_TOOLS, tool, parameters))
      },
      tool_result({ tool_id, status, output, error }) {
        if (status === 'success') {
          run.result(tool_id, { status: 'completed', text: asString(output) ?? '' })
          run.say(plans.get(String(tool_id)))
          return
        }
        const { type, message } = asRecord(error)
        const text = asString(message) ?? asString(output) ?? ''
        const isDenied = DENIED_TYPES.includes(String(type)) || RULE_DENIAL.test(text)
        run.result(tool_id, { status: isDenied ? 'denied' : 'failed', text })
      },
      result({ status, error, stats }) {
        run.verdict = status === 'success' ? { ok: true } : failedOutcome(asRecord(error).message)
        run.usage = usageIn(stats, run.usage.model)
      },
    },
    /** Retries of a model request are only in its log. */
    errorLine(text) {
      const [found, attempt, status] = RETRY.exec(text) ?? []
      const known = status === undefined ? {} : { status: Number(status) }
      if (found !== undefined) run.retry({ ...known, attempt: Number(attempt) })
      return false
    },
  }
}

const RETRY = /^Attempt (\d+) failed(?: with status (\d+))?\. Retrying\b/

/** Its `output_tokens` exclude thinking; its total includes it. */
function usageIn(stats: unknown, asked: string | null): AgentUsage {
  const names = { input: ['input_tokens'], output: ['output_tokens'], cached: 'cached' }
  const counts = tokenSums(stats, names)
  const { input_tokens, output_tokens } = counts
  const { models, total_tokens } = asRecord(stats)
  const thoughtToo = (tokenCount(total_tokens) ?? 0) - (input_tokens ?? 0)
  const answered = rowsOf(models).map(({ model, row }) => ({
    model,
    tokens: tokenCount(row.total_tokens),
  }))
  return {
    ...NO_USAGE,
    ...counts,
    output_tokens: output_tokens === null ? null : Math.max(output_tokens, thoughtToo),
    model: modelNames(answered) ?? asked,
  }
}
