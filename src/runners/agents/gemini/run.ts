import { modelName, tokenCount } from '../../../model/usage.ts'
import type { ToolFacts } from '../../contract.ts'
import { type Agent, type CommandLine, commandSpec } from '../agent.ts'
import { type AgentUsage, modelNames, NO_USAGE, rowsOf, tokenSums } from '../agent-usage.ts'
import { createBoundedMap } from '../bounded-map.ts'
import { GOOGLE_ENV, NETWORK_ENV } from '../environment.ts'
import { GEMINI_LOGIN } from '../logins.ts'
import { geminiPlaces } from '../own-places.ts'
import {
  agentPlan,
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
import type { ReadableOutput } from '../readable-output.ts'
import { asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import type { AllowsUserPlaces } from '../user-places.ts'

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
const USER_PLACES: AllowsUserPlaces = {
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
export const gemini: Agent = {
  command: commandSpec({
    id: 'gemini',
    title: 'Gemini CLI',
    program: 'gemini',
    install: INSTALL,
    login: GEMINI_LOGIN,
    ownPlaces: geminiPlaces,
    env: ENV,
    projectFiles: PROJECT_FILES,
    stream: 'gemini',
    planMode: PLAN_MODE,
    plan: line(PLAN_POLICY, ...PLANNING, '--session-id', '{id}'),
    resume: line(PLAN_POLICY, ...PLANNING, '--resume', '{session}'),
    work: {
      ...line(WORK_POLICY, '--approval-mode', 'auto_edit', '--session-id', '{id}'),
      userPlaces: USER_PLACES,
    },
  }),
  createParser: createGeminiParser,
}

/** A denial by one of its rules, by how its text begins; some have no type that says so (0.61). */
const RULE_DENIAL = /^(?:Path not in workspace:|Tool execution for ".*" denied by policy)/

/** Whether a path is a plan in its own plans folder, the only place its plan mode writes to. */
function isPlanFile(path: unknown): boolean {
  return typeof path === 'string' && /[\\/]plans[\\/][^\\/]+\.md$/.test(path)
}

const DENIED_TYPES = ['policy_violation', 'path_not_in_workspace', 'sandbox_expansion_required']

interface Call {
  facts: ToolFacts
  /** A plan that it writes to its own plans folder, the only place its plan mode may write to. */
  plan: string | null
}

/** Parses `gemini -o stream-json`, as of 0.61. */
function createGeminiParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  const calls = createBoundedMap<Call>()
  let verdict = NO_VERDICT
  let usage = NO_USAGE

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (event === null) shown.line(text)
    switch (event?.type) {
      case 'init':
        usage = { ...usage, model: modelName(event.model) }
        return session(event.session_id)
      case 'message':
        if (event.role === 'assistant') onText(event)
        return []
      case 'tool_use':
        return onToolUse(event)
      case 'tool_result':
        return onToolResult(event)
      case 'result':
        verdict =
          event.status === 'success' ? { ok: true } : failedOutcome(asRecord(event.error).message)
        usage = usageIn(event.stats, usage.model)
        return []
      default:
        return []
    }
  }

  function onText(event: UnknownRecord): void {
    const text = asString(event.content) ?? ''
    if (event.delta === true) {
      messages.append(text)
      shown.part(text)
    } else {
      messages.add(text)
      shown.message(text)
    }
  }

  function onToolUse(event: UnknownRecord): ParsedNote[] {
    messages.close()
    const tool = asString(event.tool_name) ?? ''
    const input = asRecord(event.parameters)
    if (tool === 'write_todos') return agentPlan(input.todos, 'description')
    const facts = toolFacts(tool, input)
    const isPlan = tool === 'write_file' && isPlanFile(input.file_path)
    const id = String(event.tool_id)
    calls.set(id, { facts, plan: isPlan ? asString(input.content) : null })
    shown.call(id, facts)
    return [toolCall(facts, 'in_progress')]
  }

  function onToolResult(event: UnknownRecord): ParsedNote[] {
    const id = String(event.tool_id)
    const call = calls.get(id)
    if (!call) return []
    calls.delete(id)
    if (event.status === 'success') {
      shown.result(id, call.facts, { status: 'completed', text: asString(event.output) ?? '' })
      if (call.plan !== null) {
        messages.add(call.plan)
        shown.message(call.plan)
      }
      return [toolCall(call.facts, 'completed')]
    }
    const { type, message } = asRecord(event.error)
    const reason = asString(message) ?? asString(event.output) ?? ''
    const isDenied = DENIED_TYPES.includes(String(type)) || RULE_DENIAL.test(reason)
    const status = isDenied ? 'denied' : 'failed'
    shown.result(id, call.facts, { status, text: reason })
    return [isDenied ? denied(call.facts, reason) : toolCall(call.facts, status)]
  }

  return { line, errorLine, end: () => ({ ...messages.end(), plan: null, verdict, usage }) }
}

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

const RETRY = /^Attempt (\d+) failed(?: with status (\d+))?\. Retrying\b/

/** Retries of a model request are only in its log. */
function errorLine(text: string): ParsedNote[] {
  const [found, attempt, status] = RETRY.exec(text) ?? []
  if (found === undefined) return []
  const known = status === undefined ? {} : { status: Number(status) }
  return retry({ ...known, attempt: Number(attempt) })
}
