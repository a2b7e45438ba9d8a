import * as z from 'zod'
import { AGENT_EVENTS } from './agent-events.ts'
import { BEFORE_RUN_EVENTS } from './before-run-events.ts'
import { CHANNELS } from './channels.ts'
import { COMMENT_EVENTS } from './comment-events.ts'
import {
  diffLine,
  isAgentRun,
  lineOf,
  say,
  short,
  startLine,
  stateLine,
  stepEndLine,
} from './event-line.ts'
import {
  byStanding,
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
import { approverIn } from './history.ts'
import { LEFT_EVENTS } from './left-events.ts'
import { QUEUE_EVENTS } from './queue-events.ts'
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
import { WORKTREE_EVENTS } from './worktree-events.ts'

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

const isNever = { line: () => null }

const aPlan = { sha256: 'ca1d710f23161d516e97d70e012ad7fe549f1c615b1595055cfe46d588aee5cd' }
const aHash = '7352c6f67352c6f67352c6f67352c6f67352c6f67352c6f67352c6f67352c6f6'
const aProof = { proof_type: 'test-log' }
const aProblem = {
  code: 'bad_frontmatter',
  file: 'case.md',
  line: 2,
  message: 'Flow sequence in block collection must be sufficiently indented and end with a ]',
} as const

/**
 * The table of events: the one place to add or change one. What agents do is in agent-events.ts; comments, worktrees
 * and what was there before a run have files too. From it come the types
 * of the code that writes and reads events, what a webhook can name, the API description with its examples, the line in
 * the terminal and the colour on the page. docs/webhooks.md lists the events for people.
 */
export const EVENTS = {
  session_started: entry(
    { provider: given, runs: optional(z.literal('steps')) },
    {
      isDefault: true,
      line: startLine,
      example: { provider: 'runbook' },
    },
  ),
  session_completed: entry({}, { isDefault: true, ...isNever }),
  proof_created: change(ofProof, { isDefault: true, example: aProof }),
  proof_updated: change(
    { ...ofProof, verified: z.boolean() },
    { isDefault: true, example: { ...aProof, verified: true } },
  ),
  agent_completed: entry(
    { provider: given, mode, state: sessionState },
    {
      isDefault: true,
      ...isNever,
      example: { provider: 'runbook', mode: 'plan', state: 'plan_ready' },
    },
  ),
  case_updated: change(ofCase, { isDefault: true }),
  case_state_changed: change(
    { ...ofCase, old_state: caseState, new_state: caseState },
    { isDefault: true, example: { old_state: 'BLOCKED', new_state: 'OPEN' } },
  ),
  case_created: change(ofCase),
  case_deleted: change(ofCase),
  memory_updated: change(
    { ...ofCase, filename: z.string() },
    { example: { filename: 'runbook.md' } },
  ),
  problem_found: change(problem, { example: aProblem }),
  problem_cleared: change(problem, { example: aProblem }),
  webhook_disabled: change(
    { webhook_id: id, case_id: id.nullable(), reason: z.enum(['gone', 'failing']) },
    { example: { case_id: null, reason: 'gone' } },
  ),
  attention_needed: change(
    {
      ...ofCase,
      title: z.string(),
      kind: z.enum(['plan', 'question', 'failed', 'proof']).describe('What waits for a person.'),
      session_id: id.nullable(),
      session: count.nullable().describe('The number of the session; null for a question.'),
      text: z.string().describe('What waits, in one sentence without a full stop.'),
    },
    {
      tone: 'warn',
      line: ({ title, text }) => lineOf('warn', `${say(title)}: ${say(text)}`),
      example: {
        title: 'Sign-in fails with a fresh token',
        kind: 'plan',
        session: 2,
        text: 'The plan of session 2 is ready',
      },
    },
  ),
  session_created: entry(
    {
      type: sessionType,
      provider: given,
      origin: optional(z.literal('terminal')),
      isolation: optional(z.literal('worktree')),
      again: optional(count),
      note: optional(text),
      session_id: id,
    },
    {
      line: ({ type, provider, origin }) =>
        lineOf(
          'plain',
          `session created: ${say(type)} by ${say(provider)}${origin === 'terminal' ? ' in a terminal' : ''}`,
        ),
      example: { type: 'implementing', provider: 'runbook' },
    },
  ),
  session_state_changed: entry(
    {
      old_state: sessionState,
      new_state: sessionState,
      reason: optional(text),
      case_state: optional(caseState),
    },
    {
      line: ({ old_state, new_state, reason }) => stateLine(old_state, new_state, reason),
      example: { old_state: 'created', new_state: 'planning' },
    },
  ),
  session_sealed: entry(
    { sha256: hash, evidence_sha256: optional(hash) },
    { ...isNever, example: { sha256: aHash } },
  ),
  step_started: entry(
    {
      step: given,
      language: optional(text),
      cwd: text,
      timeout_ms: count,
      proof: optional(text),
      /** It runs once before the work, to see which tests fail already. */
      baseline: optional(yes),
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
      example: {
        step: 'test',
        language: 'sh',
        cwd: '.',
        timeout_ms: 60_000,
        proof: 'tap',
      },
    },
  ),
  step_finished: entry(
    {
      step: given,
      exit: z.int().nullable(),
      /** Whether the plan expects this exit code; missing if that is so exactly for 0. */
      expected: optional(z.boolean()),
      signal: optional(text),
      timed_out: optional(yes),
      ended_by_service: optional(yes),
      start_error: optional(text),
      duration_ms: z.number(),
      output_bytes: count,
      report_bytes: optional(count),
      truncated: optional(yes),
      log_sha256: optional(hash),
      report_sha256: optional(hash),
      /** The end of its log; the audit trail has only the hash of that. */
      tail: optional(text),
    },
    {
      line: stepEndLine,
      example: {
        step: 'test',
        exit: 0,
        duration_ms: 1675,
        output_bytes: 40,
        tail: 'ok 1 - a token is accepted at once\n1..1\n',
      },
    },
  ),
  context_loaded: entry(
    {
      files: z.array(text),
      left_out: optional(z.array(text)),
      prompt: optional(given),
      prompt_bytes: optional(count),
      prompt_sha256: optional(hash),
    },
    {
      line: () => lineOf('quiet', 'the case was read'),
      example: { files: ['case.md', 'history.md', 'runbook.md'] },
    },
  ),
  hypothesis_written: entry({ sha256: optional(hash) }, { ...isNever, example: { sha256: aHash } }),
  plan_written: entry(
    { sha256: hash, by: optional(z.literal('request')) },
    {
      line: ({ sha256 }) => lineOf('quiet', `plan written (${short(sha256)})`),
      example: aPlan,
    },
  ),
  scope_unreadable: entry(
    { line: count, message: text },
    {
      line: ({ line, message }) =>
        lineOf('warn', `the scope of the plan cannot be read: line ${say(line)}: ${say(message)}`),
      example: { line: 2, message: 'paths: "../x": expected a path inside the working folder' },
    },
  ),
  plan_edited: entry(
    {
      by: z.enum(['request', 'hand']),
      sha256: hash,
      hypothesis_sha256: optional(hash),
      in_run: optional(yes),
    },
    {
      line: ({ by, sha256 }) => lineOf('plain', `plan edited by ${say(by)} (${short(sha256)})`),
      example: { by: 'request', ...aPlan },
    },
  ),
  plan_approved: entry(
    {
      by: optional(given),
      via: optional(z.enum(CHANNELS)),
      plan_sha256: hash,
      plan: optional(given),
      note: optional(given),
      ...byStanding,
    },
    {
      line: (fields) => {
        const { by, via } = approverIn(fields)
        const who = by === null ? '' : ` by ${say(by)}`
        const where =
          via === 'agent'
            ? " in the agent's own dialog"
            : via === 'standing'
              ? ', by a standing intent'
              : ''
        return lineOf('good', `plan approved${who} (${short(fields.plan_sha256)})${where}`)
      },
      example: { by: 'Ada', via: 'console', plan_sha256: aPlan.sha256 },
    },
  ),
  ...COMMENT_EVENTS,
  ...QUEUE_EVENTS,
  ...AGENT_EVENTS,
  ...BEFORE_RUN_EVENTS,
  ...LEFT_EVENTS,
  ...WORKTREE_EVENTS,
  changed_during_run: entry(
    {
      changed_case: optional(id),
      file: text,
      what: z.enum(['state', 'checklist', 'verification', 'session', 'file']),
      from: text,
      to: text,
      in_git: optional(yes),
    },
    {
      tone: 'bad',
      example: { file: 'case.md', what: 'state', from: 'IMPLEMENTING', to: 'BLOCKED' },
    },
  ),
  diff_taken: entry(
    {
      file: optional(text),
      additions: optional(count),
      deletions: optional(count),
      files: optional(count),
      /** If several: the first of them. */
      changed: optional(z.array(z.object({ file: text, additions: count, deletions: count }))),
      from_start: optional(yes),
      warnings: optional(count),
      first: optional(z.array(text)),
      patch_sha256: optional(hash),
      results: optional(z.array(text)),
      results_cut: optional(yes),
      /** Why there is no diff. */
      reason: optional(text),
    },
    {
      line: diffLine,
      example: {
        file: 'src/token.js',
        additions: 1,
        deletions: 1,
        files: 1,
      },
    },
  ),
  evidence_recorded: entry(
    { evidence_sha256: hash },
    { ...isNever, example: { evidence_sha256: aHash } },
  ),
  proof_attached: entry(
    { proof_id: id, proof_type: given },
    {
      line: ({ proof_type }) => lineOf('plain', `proof attached: ${say(proof_type)}`),
      example: aProof,
    },
  ),
  renumbered: entry(
    { from: count, to: count, was_sealed: optional(hash) },
    { tone: 'warn', example: { from: 2, to: 3 } },
  ),
  session_output: stream(output, {
    ...isNever,
    example: {
      step: 'test',
      stream: 'stdout',
      text: 'ok 1 - a token is accepted at once\n',
      artifact: '1-test.log',
      offset: 0,
    },
  }),
  resync: stream(
    { case_id: optional(id), session_id: optional(id) },
    {
      line: () =>
        lineOf('bad', 'the session’s audit log was replaced; showing it again from the start'),
    },
  ),
  ping: stream(
    { webhook_id: optional(id), case_id: optional(id.nullable()) },
    { ...isNever, example: { case_id: null } },
  ),
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
