import { join } from 'node:path'
import { readJsonFile } from '../../../files/json-file.ts'
import { modelName } from '../../../model/usage.ts'
import type { ToolFacts } from '../../contract.ts'
import { type Agent, type CommandLine, commandSpec } from '../agent.ts'
import { NO_USAGE } from '../agent-usage.ts'
import { createBoundedMap } from '../bounded-map.ts'
import { NETWORK_ENV } from '../environment.ts'
import { COPILOT_LOGIN } from '../logins.ts'
import { copilotPlaces } from '../own-places.ts'
import {
  createMessages,
  denied,
  failedOutcome,
  NO_VERDICT,
  type OutputParser,
  type ParsedNote,
  readEvent,
  retry,
  session,
  toolCall,
  toolFacts,
} from '../parser-kit.ts'
import type { ReadableOutput, ToolResult } from '../readable-output.ts'
import { asNumber, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import type { AllowsUserPlaces, Env } from '../user-places.ts'

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
const USER_PLACES: AllowsUserPlaces = {
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
export const copilot: Agent = {
  command: commandSpec({
    id: 'copilot',
    title: 'GitHub Copilot CLI',
    program: 'copilot',
    install: INSTALL,
    login: COPILOT_LOGIN,
    ownPlaces: copilotPlaces,
    env: ENV,
    projectFiles: PROJECT_FILES,
    stream: 'copilot',
    planMode: PLAN_MODE,
    plan: line(...PLANNING, '--session-id={id}'),
    resume: line(...PLANNING, '--resume={session}'),
    work: { ...line(...WORKING, '--session-id={id}'), userPlaces: USER_PLACES },
  }),
  createParser: createCopilotParser,
}

/** Servers added with `copilot mcp add`. */
export async function copilotServers(env: Env): Promise<string[]> {
  const folder =
    env.COPILOT_HOME ?? (env.HOME === undefined ? undefined : join(env.HOME, '.copilot'))
  if (folder === undefined) return []
  const { mcpServers } = asRecord(await readJsonFile(join(folder, 'mcp-config.json')))
  return Object.keys(asRecord(mcpServers)).filter((name) => /^[\w.-]+$/.test(name))
}

/** Parses `copilot --output-format json`, as of 1.0.102. Its `ephemeral` events are repeated later as a whole. */
function createCopilotParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  const calls = createBoundedMap<ToolFacts>()
  let error: unknown = null
  /** The last failed request to its model. */
  let failure: UnknownRecord = {}
  let model: string | null = null
  let verdict = NO_VERDICT

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (event === null) shown.line(text)
    const data = asRecord(event?.data)
    switch (event?.type) {
      case 'assistant.message':
        // a subagent's text is addressed to the agent
        if (data.parentToolCallId) return []
        model = modelName(data.model) ?? model
        messages.add(asString(data.content) ?? '')
        shown.message(asString(data.content) ?? '')
        return []
      case 'tool.execution_start':
        return onStart(data)
      case 'tool.execution_complete':
        return onComplete(data)
      case 'model.call_failure':
        failure = data
        return []
      case 'assistant.turn_retry':
        return onRetry(asString(data.reason))
      case 'session.error':
        error = data.message
        return []
      case 'result':
        return onResult(event)
      default:
        return []
    }
  }

  function onStart(data: UnknownRecord): ParsedNote[] {
    const facts = factsOf(data)
    const id = String(data.toolCallId)
    calls.set(id, facts)
    shown.call(id, facts)
    return [toolCall(facts, 'in_progress')]
  }

  function onComplete(data: UnknownRecord): ParsedNote[] {
    const id = String(data.toolCallId)
    const begun = calls.get(id)
    calls.delete(id)
    const denial = data.success === true ? null : denialIn(asRecord(data.error))
    const facts = begun ?? factsOf(data)
    // a denied call may have no start event
    if (begun || denial !== null) shown.result(id, facts, resultOf(data, denial))
    if (denial !== null) return [denied(facts, denial)]
    return begun ? [toolCall(begun, data.success === true ? 'completed' : 'failed')] : []
  }

  /** The reason is in the failure before the retry. */
  function onRetry(reason: string | null): ParsedNote[] {
    const { statusCode, retryAttempt } = failure
    const status = asNumber(statusCode)
    const attempt = typeof retryAttempt === 'number' ? retryAttempt + 1 : undefined
    failure = {}
    return retry({
      status,
      attempt,
      reason: status === undefined ? reason?.replaceAll('_', ' ') : undefined,
    })
  }

  function onResult(event: UnknownRecord): ParsedNote[] {
    const { exitCode } = event
    verdict = exitCode === 0 ? { ok: true } : failedOutcome(error ?? `exit code ${exitCode}`)
    return session(event.sessionId)
  }

  function end() {
    // it reports no tokens, only premium requests
    return { ...messages.end(), plan: null, verdict, usage: { ...NO_USAGE, model } }
  }

  return { line, end }
}

function factsOf(data: UnknownRecord): ToolFacts {
  return toolFacts(asString(data.toolName) ?? '', data.arguments)
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
