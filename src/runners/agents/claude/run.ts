import type { AgentRetry } from '../../../model/agent-retry.ts'
import { type CommandLine, knownAgent } from '../agent.ts'
import { ANTHROPIC_ENV, type EnvRule, NETWORK_ENV } from '../environment.ts'
import type { EventPart, EventTable, ReportedRun } from '../event-parser.ts'
import { failedOutcome, type RunOutcome } from '../parser-kit.ts'
import { toolFacts } from '../tool-kinds.ts'
import { asArray, asNumber, asRecord, asString, type UnknownRecord } from '../unknown-record.ts'
import { CLAUDE_LOGIN, claudeHomePaths, claudeServers } from './home.ts'
import { hookSettings } from './hook-settings.ts'
import { denyClaude } from './hooks.ts'
import { CLAUDE_TOOLS } from './tools.ts'
import { createUsage } from './usage.ts'

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
export const claude = knownAgent('claude', {
  seen: ['2.1.330', '2.1.332'],
  install: 'npm install -g @anthropic-ai/claude-code',
  login: CLAUDE_LOGIN,
  ownPlaces: claudeHomePaths,
  env: ENV,
  instructions: INSTRUCTIONS,
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
  events: claudeEvents,
  callHook: {
    tools: CLAUDE_TOOLS,
    deny: denyClaude,
    start(command, { folder }) {
      const group = { matcher: '*', hooks: [{ type: 'command', command }] }
      const text = hookSettings([{ event: 'PreToolUse', group }])
      return { args: ['--settings', `${folder}/hooks.json`], files: { 'hooks.json': text } }
    },
  },
})

/** What `claude -p --output-format stream-json --verbose` prints, as of 2.1.197 and 2.1.330. */
function claudeEvents(run: ReportedRun): EventTable {
  const usage = createUsage()

  /** Newer versions report a denial at once, all versions at the end. */
  function deny({ tool_use_id, tool_name, tool_input }: UnknownRecord, reason: unknown): void {
    const facts = toolFacts(CLAUDE_TOOLS, asString(tool_name) ?? '', tool_input)
    const why = asString(reason) ?? 'permission was not granted'
    run.denied(tool_use_id, run.called(tool_use_id) ?? facts, why)
  }

  return {
    parts,
    on: {
      'system/init'(event) {
        usage.init(event)
        run.session(event.session_id)
      },
      'system/api_retry': (event) => run.retry(retryIn(event)),
      'system/permission_denied': (event) => deny(event, event.message),
      'assistant/text'({ text, isOfSubagent }) {
        if (!isOfSubagent) run.say(text)
      },
      'assistant/tool_use'({ id, name, input }) {
        const tool = asString(name) ?? ''
        const { plan, todos } = asRecord(input)
        if (tool === 'TodoWrite') return run.list(todos, 'content')
        if (tool === EXIT_PLAN_MODE && asString(plan)) {
          run.plan = asString(plan)
          run.shown.message(run.plan ?? '')
        }
        run.call(id, toolFacts(CLAUDE_TOOLS, tool, tool === EXIT_PLAN_MODE ? {} : input))
      },
      'user/tool_result'({ tool_use_id, is_error, content }) {
        const status = is_error === true ? 'failed' : 'completed'
        run.result(tool_use_id, { status, text: textIn(content) })
      },
      result(event) {
        usage.result(event)
        const reported = asArray(event.permission_denials).map(asRecord)
        const isHeldInPlan =
          run.plan !== null && reported.some(({ tool_name }) => tool_name === EXIT_PLAN_MODE)
        run.verdict = verdictOf(event, isHeldInPlan)
        if (run.verdict.ok) run.say(event.result)
        for (const each of reported) deny(each, null)
      },
    },
    end() {
      run.usage = usage.end()
    },
  }
}

/** A message has a part for each of its blocks. A subagent's text is addressed to the agent. */
function parts(event: UnknownRecord): EventPart[] {
  const { type, subtype, message, parent_tool_use_id } = event
  if (type === 'system') return [[`system/${subtype}`, event]]
  if (type !== 'assistant' && type !== 'user') return [[String(type), event]]
  return asArray(asRecord(message).content).map((each) => {
    const block = asRecord(each)
    return [`${type}/${block.type}`, { ...block, isOfSubagent: Boolean(parent_tool_use_id) }]
  })
}

/** A tool's answer: a text, or blocks of text. */
function textIn(content: unknown): string {
  const blocks = asArray(content).map((block) => asString(asRecord(block).text) ?? '')
  const text = asString(content) ?? blocks.join('\n')
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
