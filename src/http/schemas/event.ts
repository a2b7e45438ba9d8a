import * as z from 'zod'
import { PROBLEM_CODES } from '../../model/problem.ts'
import { SESSION_STATES } from '../../model/session-state.ts'
import { DEFAULT_EVENTS, FURTHER_EVENTS } from '../../model/webhook.ts'
import type { Json } from '../openapi/json-schemas.ts'
import { caseState, count, hash, id, time } from './primitives.ts'

const ofCase = { case_id: id }
const ofProof = { ...ofCase, proof_id: id, proof_type: z.string() }
const problem = {
  case_id: id.nullable().describe('Null where no case is concerned.'),
  code: z.enum(PROBLEM_CODES),
  file: z.string(),
  line: z.int().nullable(),
  message: z.string(),
}

/** Of what changes in the workspace, to the last member. */
const CHANGES: Readonly<Record<string, z.ZodRawShape>> = {
  case_created: ofCase,
  case_updated: ofCase,
  case_state_changed: { ...ofCase, old_state: caseState, new_state: caseState },
  case_deleted: ofCase,
  memory_updated: { ...ofCase, filename: z.string() },
  proof_created: ofProof,
  proof_updated: { ...ofProof, verified: z.boolean() },
  problem_found: problem,
  problem_cleared: problem,
  webhook_disabled: {
    webhook_id: id,
    case_id: id.nullable(),
    reason: z.enum(['gone', 'failing']),
  },
}

const mode = z.enum(['plan', 'work'])
const text = z.string()
const state = z.enum(SESSION_STATES)
const by = z.enum(['request', 'hand'])

/**
 * Of the lines of a trail: what each is sure to have. Further members are in docs/sessions.md; those that
 * do not stand here, and those of an event with another name, may come too.
 */
const TRAIL: Readonly<Record<string, z.ZodRawShape>> = {
  session_created: { type: text, provider: text },
  session_state_changed: { old_state: state, new_state: state },
  context_loaded: { files: z.array(text) },
  hypothesis_written: {},
  plan_written: { sha256: hash },
  plan_edited: { by, sha256: hash },
  plan_approved: { plan_sha256: hash },
  session_started: { provider: text },
  guarded: { mode, guard: z.enum(['mount', 'comparison']) },
  agent_started: { mode, command: z.unknown() },
  agent_session: { agent_session: text },
  agent_plan: { entries: z.array(z.unknown()) },
  agent_usage: { mode },
  tool_call: { tool: text },
  agent_retry: {},
  denied: { tool: text, reason: text },
  notes_unlisted: {},
  plan_violation: {},
  working_folder_changed: { files: z.array(text) },
  changed_during_run: { file: text, what: text },
  step_started: { step: text, timeout_ms: count },
  step_finished: { step: text, exit: z.int().nullable(), output_bytes: count, tail: text },
  diff_taken: {},
  tests_read: { run: count, passed: count, failed: count },
  agent_completed: { provider: text, mode, state },
  evidence_recorded: { evidence_sha256: hash },
  session_completed: {},
  session_sealed: { sha256: hash, evidence_sha256: z.exactOptional(hash) },
  proof_attached: { proof_id: id, proof_type: text },
  renumbered: { from: count, to: count },
}

const output = z.object({
  case_id: id,
  session_id: id,
  step: text,
  stream: z.enum(['stdout', 'stderr']),
  text,
  artifact: text.describe('The file that gets all output of the step.'),
  offset: count.nullable().describe('At which of its bytes the text begins.'),
})

/** The component that describes an event, such as `CaseCreatedEvent`. */
export function eventName(type: string): string {
  return `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`
}

function event(type: string, payload: z.ZodType): z.ZodType {
  return z
    .object({ event_type: z.literal(type), timestamp: time, payload })
    .meta({ id: eventName(type), description: 'An event: exactly these three members.' })
}

const ofSession = (fields: z.ZodRawShape) =>
  z.looseObject({ ...fields, case_id: id, session_id: id })

/** Every event that the log, a webhook or a stream may bring, by its type. */
export const EVENTS: ReadonlyMap<string, z.ZodType> = new Map([
  ...Object.entries(CHANGES).map(([type, payload]) => named(type, z.object(payload))),
  ...Object.entries(TRAIL).map(([type, fields]) => named(type, ofSession(fields))),
  named('session_output', output),
  named('resync', z.looseObject({})),
  named(
    'ping',
    z.object({
      webhook_id: z.exactOptional(id),
      case_id: z.exactOptional(id.nullable()),
    }),
  ),
])

function named(type: string, payload: z.ZodType): [string, z.ZodType] {
  return [type, event(type, payload)]
}

const ALL = [...EVENTS.keys()]
/** What a webhook may be sent: what it can name, and the test. */
export const SENT_EVENTS = [...DEFAULT_EVENTS, ...FURTHER_EVENTS, 'ping']
/** What the log has, and what only streams have: the events of a stream, by the component that is any of them. */
export const STREAMED = {
  LogEvent: ALL,
  SessionEvent: [...Object.keys(TRAIL), 'session_output', 'resync', 'ping'],
} as const satisfies Record<string, readonly string[]>

export type Streamed = keyof typeof STREAMED

/** The component that is any event of a stream; `event_type` says which. */
export function anyOfThem(streamed: Streamed): Json {
  const refs = STREAMED[streamed].map((type) => [type, `#/components/schemas/${eventName(type)}`])
  return {
    description: 'The `data` of each event, as JSON; its `event` is the same as `event_type`.',
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'event_type', mapping: Object.fromEntries(refs) },
  }
}
