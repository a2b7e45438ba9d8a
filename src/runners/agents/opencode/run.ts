import { pathToFileURL } from 'node:url'
import { dollarCount, NO_COUNTS, tokenCount, type UsageCounts } from '../../../model/usage.ts'
import { type CommandLine, knownAgent } from '../agent.ts'
import { costOf, NO_USAGE, summed, sumOf } from '../agent-usage.ts'
import { ANTHROPIC_ENV, GOOGLE_ENV, NETWORK_ENV, OPENAI_ENV } from '../environment.ts'
import type { EventTable, ReportedRun } from '../event-parser.ts'
import { jsoncPackage } from '../install/jsonc-package.ts'
import { failedOutcome, type RunOutcome } from '../parser-kit.ts'
import type { ToolResult } from '../readable-output.ts'
import { toolFacts } from '../tool-kinds.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import { OPENCODE_LOGIN, opencodeHomePaths } from './home.ts'
import { OPENCODE_TOOLS } from './tools.ts'

const INSTALL = 'npm install -g opencode-ai'
// it detects usable providers by their keys
const ENV = ['OPENCODE_*', ...OPENAI_ENV, ...ANTHROPIC_ENV, ...GOOGLE_ENV, ...NETWORK_ENV]
const INSTRUCTIONS = [['AGENTS.md', 'CLAUDE.md', 'CONTEXT.md']]

/**
 * What it reads even with project configuration turned off: it imports plugins, installs the ones named, and clones
 * references.
 */
const PROJECT_FILES = [
  'opencode.json',
  'opencode.jsonc',
  '.opencode/opencode.json',
  '.opencode/opencode.jsonc',
  '.opencode/plugin/',
  '.opencode/plugins/',
]

/** Makes it write its log to standard error, the only place where it reports retries. */
const LOGS = { OPENCODE_PRINT_LOGS: '1', OPENCODE_LOG_LEVEL: 'INFO' }

/** Overrides the service's variables: turns off the rest of the project's configuration, and its skills. */
const OWN_ENV = {
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
  ...LOGS,
}

/**
 * Turns off language servers and formatters, which it starts in the project if the user's configuration turns them
 * on. This is a complete configuration, so one in the service's environment replaces it.
 */
const DEFAULT_ENV = {
  OPENCODE_CONFIG_CONTENT: JSON.stringify({
    lsp: false,
    formatter: false,
    // without this, its turn ends at the first denied request
    experimental: { continue_loop_on_deny: true },
  }),
}

/** Its tools in plan mode. They are also denied by name, because a user's setting for a name would win over `*`. */
const PLAN_PERMISSION = {
  '*': 'deny',
  read: 'allow',
  grep: 'allow',
  glob: 'allow',
  list: 'allow',
  todowrite: 'allow',
  todoread: 'allow',
  bash: 'deny',
  edit: 'deny',
  webfetch: 'deny',
  task: 'deny',
  external_directory: 'deny',
}

function permission(rules: object): Record<string, string> {
  return { OPENCODE_PERMISSION: JSON.stringify(rules) }
}

/** It denies access outside of the folder by itself, and continues. */
function folders(scratch: string | null): { external_directory: Record<string, string> } {
  const allowed = scratch === null ? {} : { [`${scratch}/*`]: 'allow' }
  return { external_directory: { '*': 'deny', ...allowed } }
}

function line(rules: object, ...argv: string[]): CommandLine {
  return {
    argv: ['opencode', 'run', '{args}', '--format', 'json', '--agent', 'build', ...argv],
    prompt: 'stdin',
    defaultEnv: DEFAULT_ENV,
    env: {
      ...OWN_ENV,
      ...permission(rules),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_SHARE: '1',
    },
  }
}

/** The id that it gives to the project. */
const LEAVES = ['.git/opencode']

/** opencode, as of 1.18.33. */
export const opencode = knownAgent('opencode', {
  seen: ['1.18.33'],
  install: INSTALL,
  login: OPENCODE_LOGIN,
  ownPlaces: opencodeHomePaths,
  leaves: LEAVES,
  env: ENV,
  projectFiles: PROJECT_FILES,
  instructions: INSTRUCTIONS,
  bad: [
    // anomalyco/opencode#43888
    { below: '1.18.19', why: 'it can wait forever when a subagent asks for a permission' },
  ],
  planMode: {
    holds: 'tools',
    note: 'It has only tools that read. Its own plan mode alone would leave it the shell.',
  },
  plan: line(PLAN_PERMISSION),
  // outside the conversation's folder it would never exit, and a session always plans in the same folder
  resume: line(PLAN_PERMISSION, '-s', '{session}'),
  // --auto allows whatever would be asked, so everything that the user's settings do not deny
  work: {
    ...line(folders(null), '--auto'),
    userPlaces: { allow: ({ scratch }) => ({ env: permission(folders(scratch)) }) },
  },
  events: opencodeEvents,
  callHook: {
    tools: OPENCODE_TOOLS,
    deny: (reason) => ({ reason }),
    start(command, { folder, env }) {
      const config = asRecord(jsoncPackage().parse(env.OPENCODE_CONFIG_CONTENT ?? ''))
      const plugin = [...asArray(config.plugin), pathToFileURL(`${folder}/plugin.js`).href]
      return {
        env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...config, plugin }) },
        files: { 'plugin.js': callPlugin(command) },
      }
    },
  },
})

/** A plugin that denies a call of a tool by an error. */
function callPlugin(command: string): string {
  return `import { spawnSync } from 'node:child_process'

const command = ${JSON.stringify(command)}

export const Casefile = async () => ({
  'tool.execute.before': async ({ tool }, { args }) => {
    const input = JSON.stringify({ tool_name: tool, tool_input: args })
    const { stdout } = spawnSync('/bin/sh', ['-c', command], { input, encoding: 'utf8' })
    if (stdout !== '') throw new Error(JSON.parse(stdout).reason)
  },
})
`
}

/** Why a call was denied: no field says so, but its text begins with this, and then lists rules (1.18). */
function denialIn(error: string): string | null {
  const isDenied =
    /^The user (?:rejected permission|has specified a rule which prevents you) /.test(error)
  return isDenied ? withoutRules(error) : null
}

function withoutRules(error: string): string {
  return error.replace(/(?<!\s)\s*Here are some of the relevant rules\s*\[[\s\S]*$/, '')
}

/**
 * What `opencode run --format json` prints, as of 1.18: finished parts of messages and no final event, so a run succeeded
 * if there was an answer and no error.
 */
function opencodeEvents(run: ReportedRun): EventTable {
  let failure: RunOutcome | null = null
  /** The present request to its model has had no answer so far. */
  let isSilent = false
  let wasSilent = false
  let counts: UsageCounts | null = null
  return {
    parts: (event) => [[String(event.type), asRecord(event.part ?? event.error)]],
    on: {
      '*'(event) {
        run.session(event.sessionID)
        wasSilent = isSilent
        isSilent = event.type === 'step_start'
      },
      text: (part) => run.say(part.text),
      step_finish(part) {
        isSilent = wasSilent && part.reason === 'unknown'
        if (isSilent) return run.retry({ reason: 'its answer was empty' })
        counts = counts ? summed([counts, countsIn(part)]) : countsIn(part)
      },
      error(error) {
        failure = failedOutcome(asRecord(error.data).message ?? error.message ?? error.name)
      },
      tool_use(part) {
        const tool = asString(part.tool) ?? ''
        const state = asRecord(part.state)
        if (tool === 'todowrite') return run.list(asRecord(state.input).todos, 'content')
        run.result(part.callID, resultOf(state, denialIn(asString(state.error) ?? '')), {
          facts: toolFacts(OPENCODE_TOOLS, tool, state.input),
          status: state.status === 'error' ? 'failed' : 'completed',
        })
      },
    },
    errorLine: createLog(run),
    end(messages) {
      const none: RunOutcome = { ok: false, reason: 'ended without an answer' }
      run.verdict = failure ?? (messages.length > 0 ? { ok: true } : none)
      const { cost_usd, ...tokens } = counts ?? NO_COUNTS
      run.usage = { ...NO_USAGE, ...tokens, cost_usd: costOf(cost_usd, tokens) }
    },
  }
}

/** It reports a failed command as completed. */
function resultOf(
  { status, output, error, metadata }: UnknownRecord,
  denial: string | null,
): ToolResult {
  if (denial !== null) return { status: 'denied', text: denial }
  if (status === 'error') return { status: 'failed', text: asString(error) ?? '' }
  const text = asString(output) ?? ''
  const { exit } = asRecord(metadata)
  if (typeof exit !== 'number' || exit === 0) return { status: 'completed', text }
  return { status: 'failed', text: `exit ${exit}\n${text}` }
}

/** It counts cache reads, cache writes and reasoning separately. */
function countsIn({ tokens, cost }: UnknownRecord): UsageCounts {
  const { input, output, reasoning, cache } = asRecord(tokens)
  const { read, write } = asRecord(cache)
  return {
    input_tokens: sumOf([input, read, write]),
    output_tokens: sumOf([output, reasoning]),
    cached_tokens: tokenCount(read),
    cost_usd: dollarCount(cost),
  }
}

const LOG_LINE = /^timestamp=\S+ level=\w+ run=\w+ message=/
/** `small` is the model that makes titles. */
const REQUEST = /^\S+ \S+ \S+ message=stream .*\bsmall=false\b/
const FAILURE = /^\S+ \S+ \S+ message="stream error" .*\bsmall=false\b.*?(?: error\.error="(.*)")?$/

/** Reads its log, the only place of its retries. */
function createLog(run: ReportedRun): (text: string) => boolean {
  let failure: string | null = null
  let attempt = 0
  return (text) => {
    if (!LOG_LINE.test(text)) return false
    const failed = FAILURE.exec(text)
    if (failed) failure = (failed[1] ?? 'no reason').replace(/^AI_\w+Error: /, '')
    else if (REQUEST.test(text)) {
      attempt = failure === null ? 0 : attempt + 1
      if (failure !== null) run.retry({ attempt, reason: failure })
      failure = null
    }
    return true
  }
}
