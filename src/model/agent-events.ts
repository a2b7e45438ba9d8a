import * as z from 'zod'
import { retryText } from './agent-retry.ts'
import { lineOf, say, toDoLine } from './event-line.ts'
import { byStanding, entry, optional, text } from './event-row.ts'
import { count, hash, runMode as mode } from './schemas.ts'
import { callText } from './tool-call.ts'
import { readUsage, usageText } from './usage.ts'
import { wallsText } from './walls-text.ts'

const planEntry = z.looseObject({ content: text, status: text }).meta({ id: 'AgentPlanEntry' })
const amount = optional(z.number().nullable())

/** The rows of the table of events about what agents do and are not allowed to do. */
export const AGENT_EVENTS = {
  guarded: entry(
    {
      mode,
      guard: z.enum(['mount', 'comparison']),
      reason: optional(text),
      /** While planning: changes of the working folder are thrown away (an overlay), or impossible. */
      folder: optional(z.enum(['overlay', 'overlay-in-memory', 'read-only'])),
      /** Where the programs may write, and what they do not see, if everything else is read-only. */
      writes: optional(z.array(text)),
      hides: optional(z.array(text)),
      /** What they reach on the network, if that is limited, and the version of what limits it. */
      hosts: optional(z.array(text)),
      runtime: optional(text),
    },
    {
      line: (fields) => {
        const walls = wallsText(fields)
        return walls === null ? null : lineOf(fields.guard === 'mount' ? 'quiet' : 'warn', walls)
      },
      example: {
        mode: 'work',
        guard: 'mount',
        writes: ['the working folder', 'temporary folders', '~/.npm'],
        hides: ['the memory root', '~/.ssh'],
      },
    },
  ),
  agent_started: entry(
    {
      mode,
      /** The words of the command, with `{prompt}` in place of the prompt. */
      command: z.array(text),
      version: optional(text),
      /** A known problem of this version. */
      warning: optional(text),
      /** How the agent's own plan mode was set and read back. */
      plan_mode: optional(text),
      /** The mode that the agent reports for work. */
      work_mode: optional(text),
    },
    {
      line: ({ mode, command, version, warning }) => {
        const [program = ''] = Array.isArray(command) ? command : []
        const which = version === undefined ? say(program) : `${say(program)} ${say(version)}`
        const what = mode === 'plan' ? 'plans' : 'works'
        return warning === undefined
          ? lineOf('quiet', `${which} ${what}`)
          : lineOf('warn', `${which} ${what}: ${say(warning)}`)
      },
      example: { mode: 'plan', command: ['claude', '-p', '{prompt}'], version: '2.1.0' },
    },
  ),
  agent_session: entry(
    { agent_session: text },
    { line: () => null, example: { agent_session: '5f0c1d9e' } },
  ),
  agent_plan: entry(
    { entries: z.array(planEntry) },
    {
      line: ({ entries }) => toDoLine(Array.isArray(entries) ? entries : []),
      example: { entries: [{ content: 'Read the code', status: 'completed' }] },
    },
  ),
  agent_usage: entry(
    {
      mode,
      model: optional(text.nullable()),
      input_tokens: amount,
      output_tokens: amount,
      cached_tokens: amount,
      cost_usd: amount,
    },
    {
      line: (read) => {
        const used = usageText(readUsage(read))
        return used === '' ? null : lineOf('quiet', `used ${say(used)}`)
      },
      example: {
        mode: 'plan',
        model: 'claude-sonnet-4-5',
        input_tokens: 18_234,
        output_tokens: 912,
        cached_tokens: 15_020,
        cost_usd: 0.06,
      },
    },
  ),
  agent_transcript: entry(
    { path: text, sha256: hash },
    {
      line: () => null,
      example: {
        path: '~/.claude/projects/shop/949b1c1e.jsonl',
        sha256: 'ca1d710f23161d516e97d70e012ad7fe549f1c615b1595055cfe46d588aee5cd',
      },
    },
  ),
  tool_call: entry(
    {
      tool: text,
      kind: optional(text),
      title: optional(text),
      status: optional(text),
      /** Of the input of a tool of an agent in a terminal, which is not recorded itself. */
      input_sha256: optional(hash),
      ...byStanding,
    },
    {
      line: ({ tool, kind, title, status }) => {
        // the end of the call has a line too
        if (status === 'pending' || status === 'in_progress') return null
        const call = callText({
          tool: String(tool),
          ...(typeof kind === 'string' ? { kind } : {}),
          ...(typeof title === 'string' ? { title } : {}),
        })
        return lineOf('quiet', `${say(call)}${status === 'failed' ? ': failed' : ''}`)
      },
      example: { tool: 'Read', kind: 'read', title: 'src/token.js', status: 'completed' },
    },
  ),
  agent_retry: entry(
    {
      status: z.number().optional(),
      attempt: z.number().optional(),
      of: z.number().optional(),
      reason: text.optional(),
    },
    {
      line: (read) => lineOf('plain', say(retryText(read))),
      example: { status: 529, attempt: 1, of: 10 },
    },
  ),
  denied: entry(
    { tool: text, kind: optional(text), title: optional(text), reason: text, pid: optional(count) },
    {
      line: ({ tool, title, reason }) =>
        lineOf('bad', `denied: ${say(title ?? tool)}: ${say(reason)}`),
      example: { tool: 'Bash', title: 'npm install', reason: 'permission was not granted' },
    },
  ),
  /** A call outside the scope, which the agent asked its person about in its own dialog. */
  asked: entry(
    { tool: text, title: optional(text), reason: text },
    {
      line: ({ tool, title, reason }) =>
        lineOf('warn', `asked in the terminal: ${say(title ?? tool)}: ${say(reason)}`),
      example: { tool: 'Bash', title: 'npm install', reason: 'outside the scope of the plan' },
    },
  ),
  notes_unlisted: entry(
    {
      agent_started: optional(count),
      agent_session: optional(count),
      agent_plan: optional(count),
      tool_call: optional(count),
      agent_retry: optional(count),
      denied: optional(count),
      asked: optional(count),
    },
    { tone: 'warn', example: { tool_call: 120 } },
  ),
  plan_violation: entry(
    {
      working_folder: optional(z.array(text)),
      replaced: optional(z.array(text)),
    },
    { tone: 'bad', example: { working_folder: ['notes.txt'] } },
  ),
} as const
