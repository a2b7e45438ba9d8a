import { join } from 'node:path'
import { readJsonFile } from '../../../files/json-file.ts'
import type { AgentRetry } from '../../../model/agent-retry.ts'
import { modelName, type UsageCounts } from '../../../model/usage.ts'
import type { ToolFacts } from '../../contract.ts'
import { type Agent, type CommandLine, commandSpec } from '../agent.ts'
import {
  type AgentUsage,
  costOf,
  modelNames,
  NO_USAGE,
  rowsOf,
  summed,
  tokenSums,
} from '../agent-usage.ts'
import { createBoundedMap } from '../bounded-map.ts'
import { ANTHROPIC_ENV, type EnvRule, NETWORK_ENV } from '../environment.ts'
import { CLAUDE_LOGIN } from '../logins.ts'
import { claudePlaces } from '../own-places.ts'
import {
  agentPlan,
  createMessages,
  denied,
  failedOutcome,
  NO_VERDICT,
  type OutputParser,
  type ParsedNote,
  type RunOutcome,
  readEvent,
  retry,
  session,
  toolCall,
  toolFacts,
} from '../parser-kit.ts'
import type { ReadableOutput } from '../readable-output.ts'
import { asArray, asNumber, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import type { Env } from '../user-places.ts'

/** Login and model settings. Cloud credentials are passed only if Claude is set to use that cloud. */
const ENV: readonly EnvRule[] = [
  ...ANTHROPIC_ENV,
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_CLIENT_CERT',
  'CLAUDE_CODE_CLIENT_KEY',
  'CLAUDE_CODE_CLIENT_KEY_PASSPHRASE',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  { where: 'CLAUDE_CODE_USE_BEDROCK', names: ['AWS_*', 'CLAUDE_CODE_SKIP_BEDROCK_AUTH'] },
  {
    where: 'CLAUDE_CODE_USE_VERTEX',
    names: [
      'CLOUD_ML_REGION',
      'VERTEX_REGION_*',
      'CLAUDE_CODE_SKIP_VERTEX_AUTH',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'GOOGLE_CLOUD_PROJECT',
      'GCLOUD_PROJECT',
    ],
  },
  { where: 'CLAUDE_CODE_USE_FOUNDRY', names: ['AZURE_*', 'CLAUDE_CODE_SKIP_FOUNDRY_AUTH'] },
  ...NETWORK_ENV,
]

const INSTRUCTIONS = [['CLAUDE.md', 'AGENTS.md'], ['.claude/CLAUDE.md'], ['CLAUDE.local.md']]
const READING_TOOLS = ['Read', 'Grep', 'Glob']
const EXIT_PLAN_MODE = 'ExitPlanMode'

/**
 * Claude Code runs the project's scheduled tasks whatever its settings say: it sends their prompts to its model and
 * writes to `.git/info/exclude`. This turns that off.
 */
const NO_TASKS = { CLAUDE_CODE_DISABLE_CRON: '1' }

function line(...argv: string[]): CommandLine {
  return { argv, prompt: 'stdin', env: { ...NO_TASKS, DISABLE_AUTOUPDATER: '1' } }
}

// the user's settings and none of the project's: no project hooks, servers, endpoints, skills or agents
const OWN_SETTINGS = ['--setting-sources', 'user']
const STREAM = ['--output-format', 'stream-json', '--verbose', ...OWN_SETTINGS]
const START = ['claude', '-p', '{args}', ...STREAM]
// tools of MCP servers are unchecked; its own plan mode would make it write a file, ask, and begin
const READS = READING_TOOLS.join(',')
const PLANNING = ['--permission-mode', 'default', '--tools', READS, '--strict-mcp-config']
// it can write only in its folder; a program that can run commands has network access anyway
const WORKING = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash,WebFetch,WebSearch']

/** Claude Code, as of 2.1.330. */
export const claude: Agent = {
  command: commandSpec({
    id: 'claude',
    title: 'Claude Code',
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    login: CLAUDE_LOGIN,
    ownPlaces: claudePlaces,
    env: ENV,
    instructions: INSTRUCTIONS,
    stream: 'claude',
    planMode: { holds: 'tools', note: 'It has only the tools Read, Grep and Glob.' },
    plan: line(...START, ...PLANNING, '--session-id', '{id}'),
    resume: line(...START, ...PLANNING, '--resume', '{session}'),
    work: {
      ...line(...START, ...WORKING, '--session-id', '{id}'),
      userPlaces: {
        findServers: claudeServers,
        // its list of allowed tools accepts no wildcard for a server, so servers are listed by name
        allow: ({ scratch, servers }) => ({
          args: [
            ...(scratch === null ? [] : ['--add-dir', scratch]),
            ...(servers.length === 0
              ? []
              : ['--allowedTools', servers.map((name) => `mcp__${name}`).join(',')]),
          ],
        }),
      },
    },
  }),
  createParser: createClaudeParser,
}

/** Servers added with `claude mcp add`, for the user and for this folder; not those of the project's .mcp.json. */
export async function claudeServers(env: Env, workdir: string): Promise<string[]> {
  const folder = env.CLAUDE_CONFIG_DIR ?? env.HOME
  if (folder === undefined) return []
  const { mcpServers, projects } = asRecord(await readJsonFile(join(folder, '.claude.json')))
  const project = asRecord(asRecord(projects)[workdir])
  const names = [mcpServers, project.mcpServers].flatMap((servers) =>
    Object.keys(asRecord(servers)),
  )
  return [...new Set(names.map((name) => name.replace(/[^\w-]/g, '_')))]
}

/** Parses `claude -p --output-format stream-json --verbose`, as of 2.1.197 and 2.1.330. */
function createClaudeParser(shown: ReadableOutput): OutputParser {
  const messages = createMessages()
  const calls = createBoundedMap<ToolFacts>()
  /** Newer versions report a denial at once, all versions at the end. */
  const denials = createBoundedMap<true>(MAX_DENIALS)
  const usage = createUsage()
  let plan: string | null = null
  let verdict = NO_VERDICT

  function line(text: string): ParsedNote[] {
    const event = readEvent(text)
    if (event === null) shown.line(text)
    switch (event?.type) {
      case 'system':
        return onSystem(event)
      case 'assistant':
        return blocksOf(event).flatMap((block) => onBlock(block, event))
      case 'user':
        return blocksOf(event).flatMap(onToolResult)
      case 'result':
        return onResult(event)
      default:
        return []
    }
  }

  function onSystem(event: UnknownRecord): ParsedNote[] {
    if (event.subtype === 'init') {
      usage.init(event)
      return session(event.session_id)
    }
    if (event.subtype === 'api_retry') return retry(retryIn(event))
    return event.subtype === 'permission_denied' ? onDenied(event, event.message) : []
  }

  function onBlock(block: UnknownRecord, event: UnknownRecord): ParsedNote[] {
    // a subagent's text is addressed to the agent
    if (block.type === 'text' && !event.parent_tool_use_id) say(asString(block.text) ?? '')
    if (block.type !== 'tool_use') return []
    const tool = asString(block.name) ?? ''
    const input = asRecord(block.input)
    if (tool === EXIT_PLAN_MODE && asString(input.plan)) {
      plan = asString(input.plan)
      shown.message(plan ?? '')
    }
    if (tool === 'TodoWrite') return agentPlan(input.todos, 'content')
    const facts = toolFacts(tool, tool === EXIT_PLAN_MODE ? {} : input)
    const id = String(block.id)
    calls.set(id, facts)
    shown.call(id, facts)
    return [toolCall(facts, 'in_progress')]
  }

  function say(text: string): void {
    messages.add(text)
    shown.message(text)
  }

  function onToolResult(block: UnknownRecord): ParsedNote[] {
    if (block.type !== 'tool_result') return []
    const id = String(block.tool_use_id)
    const facts = calls.get(id)
    calls.delete(id)
    if (!facts) return []
    const isDenied = denials.has(id)
    const status = isDenied ? 'denied' : block.is_error === true ? 'failed' : 'completed'
    shown.result(id, facts, { status, text: textIn(block.content) })
    return isDenied ? [] : [toolCall(facts, status)]
  }

  function onDenied(reported: UnknownRecord, reason: unknown): ParsedNote[] {
    const id = asString(reported.tool_use_id)
    if (id !== null && denials.has(id)) return []
    if (id !== null) denials.set(id, true)
    const known = id === null ? undefined : calls.get(id)
    const facts = known ?? toolFacts(asString(reported.tool_name) ?? '', reported.tool_input)
    return [denied(facts, asString(reason) ?? 'permission was not granted')]
  }

  function onResult(event: UnknownRecord): ParsedNote[] {
    usage.result(event)
    const reported = asArray(event.permission_denials).map(asRecord)
    const isHeldInPlan =
      plan !== null && reported.some(({ tool_name }) => tool_name === EXIT_PLAN_MODE)
    verdict = verdictOf(event, isHeldInPlan)
    const result = asString(event.result)
    if (verdict.ok && result) say(result)
    return reported.flatMap((denial) => onDenied(denial, null))
  }

  return { line, end: () => ({ ...messages.end(), plan, verdict, usage: usage.end() }) }
}

/** It repeats all its denials at the end. */
const MAX_DENIALS = 10_000

function blocksOf(event: UnknownRecord): UnknownRecord[] {
  return asArray(asRecord(event.message).content).map(asRecord)
}

/** A tool's answer: a text, or blocks of text. */
function textIn(content: unknown): string {
  const blocks = asArray(content).map((block) => asString(asRecord(block).text) ?? '')
  return withoutTag(asString(content) ?? blocks.join('\n'))
}

function withoutTag(text: string): string {
  return text.replace(/<\/?tool_use_error>/g, '')
}

/** `error_status` is null if the model could not be reached. */
function retryIn({ attempt, max_retries, error_status, error }: UnknownRecord): AgentRetry {
  const status = asNumber(error_status)
  const reason = status === undefined ? asString(error) : null
  return {
    status,
    attempt: asNumber(attempt),
    of: asNumber(max_retries),
    reason: reason ?? undefined,
  }
}

/** Planning ends with a denied request to leave plan mode. Claude reports that as an error and exits with 1. */
function verdictOf(event: UnknownRecord, isHeldInPlan: boolean): RunOutcome {
  if (event.is_error !== true && event.subtype === 'success') return { ok: true }
  if (event.subtype === 'error_during_execution' && isHeldInPlan) return { ok: true, anyExit: true }
  const errors = asArray(event.errors).filter((error) => typeof error === 'string')
  return failedOutcome(asString(event.result) || errors.join('; ') || event.subtype)
}

const BY_MODEL = {
  input: ['inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'],
  output: ['outputTokens'],
  cached: 'cacheReadInputTokens',
}
const BY_AGENT = {
  input: ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  output: ['output_tokens'],
  cached: 'cache_read_input_tokens',
}

interface Row extends UsageCounts {
  model: string
}

/**
 * Its usage. `usage` excludes subagents and side requests, `modelUsage` includes them. In newer versions (2.1.330)
 * `modelUsage` and the cost continue from a resumed conversation, and the result also has what was added; older ones
 * (2.1.197) count from the start of the program.
 */
function createUsage() {
  let asked: string | null = null
  let rows: Row[] = []
  let own: UsageCounts | null = null
  return {
    init({ model }: UnknownRecord) {
      asked = modelName(model)
    },
    result(event: UnknownRecord) {
      const { model_usage_since_last_result: since, modelUsage } = event
      if (since !== undefined) rows.push(...rowsOf(since).map(rowIn))
      else rows = rowsOf(modelUsage).map(rowIn)
      const counts = { ...tokenSums(event.usage, BY_AGENT), cost_usd: null }
      own = own ? summed([own, counts]) : counts
    },
    end(): AgentUsage {
      const counts = rows.length > 0 ? summed(rows) : (own ?? NO_USAGE)
      const models = rows.map(({ model, input_tokens, output_tokens }) => ({
        model,
        tokens: (input_tokens ?? 0) + (output_tokens ?? 0),
      }))
      return { ...NO_USAGE, ...counts, model: modelNames(models) ?? asked }
    },
  }
}

function rowIn({ model, row }: { model: string; row: UnknownRecord }): Row {
  const tokens = tokenSums(row, BY_MODEL)
  // if it does not know a model's price, it uses another model's
  const isPriced = row.costBasis !== 'unknown'
  return { model, ...tokens, cost_usd: isPriced ? costOf(row.costUSD, tokens) : null }
}
