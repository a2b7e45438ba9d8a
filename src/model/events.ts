import * as z from 'zod'
import { retryText } from './agent-retry.ts'
import { isAgentRun, lineOf, say, short, stateLine, stepEndLine, toDoLine } from './event-line.ts'
import {
  change,
  type EventRow,
  entry,
  given,
  optional,
  type ReadFields,
  stream,
  text,
  yes,
} from './event-row.ts'
import {
  caseState,
  count,
  hash,
  id,
  runMode as mode,
  problemCode,
  sessionState,
  sessionType,
} from './schemas.ts'
import { callText } from './tool-call.ts'
import { readUsage, usageText } from './usage.ts'

const ofCase = { case_id: id }
const ofProof = { ...ofCase, proof_id: id, proof_type: z.string() }
const problem = {
  case_id: id.nullable().describe('Null if it is about no case.'),
  code: problemCode,
  file: z.string(),
  line: z.int().nullable(),
  message: z.string(),
}
const output = {
  ...ofCase,
  session_id: id,
  step: text,
  stream: z.enum(['stdout', 'stderr']),
  text,
  artifact: text.describe('The file that all output of the step is written to.'),
  offset: count
    .nullable()
    .describe('The byte of that file at which the text begins; null if it is not known.'),
}
const planEntry = z.looseObject({ content: text, status: text }).meta({ id: 'AgentPlanEntry' })
const amount = optional(z.number().nullable())

const isNever = { line: () => null }

/**
 * The table of events: the one place to add or change one. From it come the types of the code that writes and reads
 * events, what a webhook can name, the API description, the line in the terminal and the colour on the page.
 * docs/sessions.md and docs/webhooks.md list the events for people.
 */
export const EVENTS = {
  session_started: entry(
    { provider: given },
    {
      isDefault: true,
      line: ({ provider }) => lineOf('quiet', `${say(provider)} started working`),
    },
  ),
  session_completed: entry({}, { isDefault: true, ...isNever }),
  proof_created: change(ofProof, { isDefault: true }),
  proof_updated: change({ ...ofProof, verified: z.boolean() }, { isDefault: true }),
  agent_completed: entry(
    { provider: given, mode, state: sessionState },
    { isDefault: true, ...isNever },
  ),
  case_updated: change(ofCase, { isDefault: true }),
  case_state_changed: change(
    { ...ofCase, old_state: caseState, new_state: caseState },
    { isDefault: true },
  ),
  case_created: change(ofCase),
  case_deleted: change(ofCase),
  memory_updated: change({ ...ofCase, filename: z.string() }),
  problem_found: change(problem),
  problem_cleared: change(problem),
  webhook_disabled: change({
    webhook_id: id,
    case_id: id.nullable(),
    reason: z.enum(['gone', 'failing']),
  }),
  session_created: entry(
    { type: sessionType, provider: given, note: optional(text), session_id: id },
    {
      line: ({ type, provider }) =>
        lineOf('plain', `session created: ${say(type)} by ${say(provider)}`),
    },
  ),
  session_state_changed: entry(
    {
      old_state: sessionState,
      new_state: sessionState,
      reason: optional(text),
      case_state: optional(caseState),
    },
    { line: ({ old_state, new_state, reason }) => stateLine(old_state, new_state, reason) },
  ),
  session_sealed: entry({ sha256: hash, evidence_sha256: optional(hash) }, isNever),
  step_started: entry(
    {
      step: given,
      language: optional(text),
      cwd: text,
      timeout_ms: count,
      proof: optional(text),
      log: optional(given),
      report: optional(given),
    },
    {
      line: (read, step) =>
        lineOf(
          'step',
          isAgentRun(read)
            ? say(read.step)
            : `${say(read.step)}  ${say(read.language)}, step ${step}`,
        ),
    },
  ),
  step_finished: entry(
    {
      step: given,
      exit: z.int().nullable(),
      signal: optional(text),
      timed_out: optional(yes),
      ended_by_service: optional(yes),
      start_error: optional(text),
      duration_ms: z.number(),
      output_bytes: count,
      report_bytes: optional(count),
      truncated: optional(yes),
      tail: text,
    },
    { line: stepEndLine },
  ),
  context_loaded: entry(
    {
      files: z.array(text),
      left_out: optional(z.array(text)),
      prompt: optional(given),
      prompt_bytes: optional(count),
      prompt_sha256: optional(hash),
    },
    { line: () => lineOf('quiet', 'the case was read') },
  ),
  hypothesis_written: entry({ sha256: optional(hash) }, isNever),
  plan_written: entry(
    { sha256: hash },
    { line: ({ sha256 }) => lineOf('quiet', `plan written (${short(sha256)})`) },
  ),
  plan_edited: entry(
    {
      by: z.enum(['request', 'hand']),
      sha256: hash,
      hypothesis_sha256: optional(hash),
      in_run: optional(yes),
    },
    { line: ({ by, sha256 }) => lineOf('plain', `plan edited by ${say(by)} (${short(sha256)})`) },
  ),
  plan_approved: entry(
    { plan_sha256: hash, plan: optional(given) },
    { line: ({ plan_sha256 }) => lineOf('good', `plan approved (${short(plan_sha256)})`) },
  ),
  guarded: entry(
    { mode, guard: z.enum(['mount', 'comparison']), reason: optional(text) },
    {
      line: ({ guard, reason }) =>
        guard === 'mount' ? null : lineOf('quiet', `no read-only mounts: ${say(reason)}`),
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
    },
  ),
  agent_session: entry({ agent_session: text }, isNever),
  agent_plan: entry(
    { entries: z.array(planEntry) },
    { line: ({ entries }) => toDoLine(Array.isArray(entries) ? entries : []) },
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
    },
  ),
  tool_call: entry(
    { tool: text, kind: optional(text), title: optional(text), status: optional(text) },
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
    },
  ),
  agent_retry: entry(
    {
      status: z.number().optional(),
      attempt: z.number().optional(),
      of: z.number().optional(),
      reason: text.optional(),
    },
    { line: (read) => lineOf('plain', say(retryText(read))) },
  ),
  denied: entry(
    { tool: text, kind: optional(text), title: optional(text), reason: text, pid: optional(count) },
    {
      line: ({ tool, title, reason }) =>
        lineOf('bad', `denied: ${say(title ?? tool)}: ${say(reason)}`),
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
    },
    { tone: 'warn' },
  ),
  plan_violation: entry(
    {
      copy: optional(z.array(text)),
      working_folder: optional(z.array(text)),
      replaced: optional(z.array(text)),
    },
    { tone: 'bad' },
  ),
  working_folder_changed: entry({ files: z.array(text) }, { tone: 'warn' }),
  changed_during_run: entry(
    {
      changed_case: optional(id),
      file: text,
      what: z.enum(['state', 'checklist', 'verification', 'session']),
      from: text,
      to: text,
    },
    { tone: 'bad' },
  ),
  diff_taken: entry(
    {
      file: optional(text),
      additions: optional(count),
      deletions: optional(count),
      files: optional(count),
      warnings: optional(count),
      first: optional(z.array(text)),
      diff: optional(z.null()),
      reason: optional(text),
    },
    {
      line: ({ file, additions, deletions, files, diff, reason }) => {
        if (diff === null) return lineOf('quiet', `no diff: ${say(reason)}`)
        const more = typeof files === 'number' && files > 1 ? ` in ${files} files, most in` : ''
        return lineOf('plain', `changed: +${say(additions)} -${say(deletions)}${more} ${say(file)}`)
      },
    },
  ),
  tests_read: entry(
    { run: count, passed: count, failed: count },
    {
      line: ({ run, passed, failed }) =>
        failed === 0
          ? lineOf('good', `${say(passed)} of ${say(run)} tests pass`)
          : lineOf('bad', `${say(failed)} of ${say(run)} tests failed`),
    },
  ),
  evidence_recorded: entry({ evidence_sha256: hash }, isNever),
  proof_attached: entry({ proof_id: id, proof_type: given }),
  renumbered: entry({ from: count, to: count, was_sealed: optional(hash) }, { tone: 'warn' }),
  session_output: stream(output, isNever),
  resync: stream(
    { case_id: optional(id), session_id: optional(id) },
    {
      line: () =>
        lineOf('bad', 'the session’s audit log was replaced; showing it again from the start'),
    },
  ),
  ping: stream({ webhook_id: optional(id), case_id: optional(id.nullable()) }, isNever),
} as const

type Events = typeof EVENTS
type NameOf<Of extends EventRow['of']> = {
  [Name in keyof Events]: Events[Name]['of'] extends Of ? Name : never
}[keyof Events]

export type EventName = keyof Events
/** The event of an entry in a session's audit trail. */
export type EntryName = NameOf<'entry'>
export type ChangeName = NameOf<'change'>

/** The fields of an event, as the service writes them. */
export type EventFields<Name extends EventName> = z.infer<z.ZodObject<Events[Name]['fields']>>
/** The fields of an event as read from a file or a stream, where they may be anything. */
export type FieldsRead<Name extends EventName> = ReadFields<Events[Name]['fields']>
