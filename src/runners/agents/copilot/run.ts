import { modelName } from '../../../model/usage.ts'
import { type CommandLine, knownAgent } from '../agent.ts'
import { NO_USAGE } from '../agent-usage.ts'
import { NETWORK_ENV } from '../environment.ts'
import type { EventTable, ReportedRun } from '../event-parser.ts'
import { failedOutcome } from '../parser-kit.ts'
import type { ToolResult } from '../readable-output.ts'
import { toolFacts } from '../tool-kinds.ts'
import { asNumber, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import type { AllowsUserTools } from '../user-tools.ts'
import { COPILOT_LOGIN, copilotHomePaths, copilotServers } from './home.ts'
import { copilotDialect } from './hooks.ts'
import { COPILOT_TOOLS } from './tools.ts'

const INSTALL = 'npm install -g @github/copilot'
const ENV = ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST', ...NETWORK_ENV]
const PLAN_MODE = { holds: 'tools', note: 'It has only the tools view, grep and glob.' } as const
const READING = ['--available-tools', 'view', 'grep', 'glob']

/** In an untrusted folder it still starts the servers of custom agents. */
const PROJECT_FILES = [
  '.github/hooks/',
  '.github/copilot/',
  '.github/agents/',
  '.github/extensions/',
  '.github/mcp.json',
  '.github/lsp.json',
  '.mcp.json',
  '.vscode/mcp.json',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/agents/',
]

/** It allows writing to the temporary folder by default. */
const USER_PLACES: AllowsUserTools = {
  findServers: copilotServers,
  allow: ({ servers }) => ({ args: servers.map((name) => `--allow-tool=${name}`) }),
}

function line(...argv: string[]): CommandLine {
  return {
    argv: ['copilot', '{args}', '--output-format', 'json', '--no-ask-user', ...argv],
    prompt: 'stdin',
    // without a terminal, this variable in the user's environment would allow everything
    env: { COPILOT_ALLOW_ALL: 'false' },
  }
}

const PLANNING = ['--no-auto-update', ...READING]
const WORKING = ['--no-auto-update', '--allow-tool=write', '--allow-tool=shell']

/** GitHub Copilot CLI, as of 1.0.102. */
export const copilot = knownAgent('copilot', {
  seen: ['1.0.102'],
  install: INSTALL,
  login: COPILOT_LOGIN,
  ownPlaces: copilotHomePaths,
  env: ENV,
  projectFiles: PROJECT_FILES,
  planMode: PLAN_MODE,
  plan: line(...PLANNING, '--session-id={id}'),
  resume: line(...PLANNING, '--resume={session}'),
  work: { ...line(...WORKING, '--session-id={id}'), userPlaces: USER_PLACES },
  events: copilotEvents,
  callHook: {
    tools: COPILOT_TOOLS,
    deny: copilotDialect.deny,
    // a plugin for this run, which has nothing but the hook
    start(command, { folder }) {
      const preToolUse = [{ type: 'command', bash: command, timeoutSec: 60 }]
      return {
        args: ['--plugin-dir', folder],
        files: {
          'plugin.json': JSON.stringify({
            name: 'casefile',
            version: '1.0.0',
            hooks: 'hooks.json',
          }),
          'hooks.json': JSON.stringify({ version: 1, hooks: { preToolUse } }),
        },
      }
    },
  },
})

/** What `copilot --output-format json` prints, as of 1.0.102. Its `ephemeral` events are repeated later as a whole. */
function copilotEvents(run: ReportedRun): EventTable {
  let error: unknown = null
  /** The last failed request to its model. */
  let failure: UnknownRecord = {}
  const factsOf = ({ toolName, arguments: input }: UnknownRecord) =>
    toolFacts(COPILOT_TOOLS, asString(toolName) ?? '', input)
  return {
    parts: (event) => [[String(event.type), asRecord(event.data ?? event)]],
    on: {
      'assistant.message'({ parentToolCallId, model, content }) {
        // a subagent's text is addressed to the agent
        if (parentToolCallId) return
        // it reports no tokens, only premium requests
        run.usage = { ...NO_USAGE, model: modelName(model) ?? run.usage.model }
        run.say(content)
      },
      'tool.execution_start': (data) => run.call(data.toolCallId, factsOf(data)),
      'tool.execution_complete'(data) {
        const denial = data.success === true ? null : denialIn(asRecord(data.error))
        // a denied call may have no start event
        const facts = run.called(data.toolCallId) ?? (denial === null ? undefined : factsOf(data))
        const status = data.success === true ? 'completed' : 'failed'
        if (facts) run.result(data.toolCallId, resultOf(data, denial), { facts, status })
      },
      'model.call_failure'(data) {
        failure = data
      },
      /** The reason is in the failure before the retry. */
      'assistant.turn_retry'({ reason }) {
        const status = asNumber(failure.statusCode)
        const { retryAttempt } = failure
        failure = {}
        run.retry({
          status,
          attempt: typeof retryAttempt === 'number' ? retryAttempt + 1 : undefined,
          reason: status === undefined ? asString(reason)?.replaceAll('_', ' ') : undefined,
        })
      },
      'session.error'({ message }) {
        error = message
      },
      result({ exitCode, sessionId }) {
        run.verdict =
          exitCode === 0 ? { ok: true } : failedOutcome(error ?? `exit code ${exitCode}`)
        run.session(sessionId)
      },
    },
  }
}

/** It reports a failed command as success. */
function resultOf(data: UnknownRecord, denial: string | null): ToolResult {
  if (denial !== null) return { status: 'denied', text: denial }
  const { message } = asRecord(data.error)
  if (data.success !== true) return { status: 'failed', text: asString(message) ?? '' }
  const { exitCode } = asRecord(data.shellExecution)
  const text = withoutNote(asString(asRecord(data.result).content) ?? '')
  if (typeof exitCode !== 'number' || exitCode === 0) return { status: 'completed', text }
  return { status: 'failed', text: `exit ${exitCode}\n${text}` }
}

/** A line that it adds for its model. */
const SHELL_NOTE = /\n?<shellId: [^<>\n]*?(?: completed with exit code (\d+))?>\s*$/

function withoutNote(text: string): string {
  return text.replace(SHELL_NOTE, '')
}

const DENIED_CODES = ['denied', 'permission_denied', 'rejected']

/** Why a call was denied, from the error with its code; null for any other failure. */
function denialIn({ code, message }: UnknownRecord): string | null {
  return DENIED_CODES.includes(String(code)) ? (asString(message) ?? String(code)) : null
}
