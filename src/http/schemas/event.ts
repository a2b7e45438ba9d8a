import * as z from 'zod'
import { DEFAULT_EVENTS, FURTHER_EVENTS } from '../../model/webhook.ts'
import type { Json } from '../openapi/json-schemas.ts'
import {
  caseState,
  count,
  hash,
  id,
  problemCode,
  runMode,
  sessionState,
  time,
} from './primitives.ts'

const ofCase = { case_id: id }
const ofProof = { ...ofCase, proof_id: id, proof_type: z.string() }
const problem = {
  case_id: id.nullable().describe('Null if it is about no case.'),
  code: problemCode,
  file: z.string(),
  line: z.int().nullable(),
  message: z.string(),
}

/** The payloads of changes in the workspace, with every member. */
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

const mode = runMode
const text = z.string()
const state = sessionState
const by = z.enum(['request', 'hand'])
const planEntry = z.looseObject({ content: text, status: text }).meta({ id: 'AgentPlanEntry' })

/**
 * The payloads of audit log entries, with the members that each always has. An entry may have others, listed in
 * docs/sessions.md, and the log may have events that are not listed here.
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
  agent_started: { mode, command: z.array(text) },
  agent_session: { agent_session: text },
  agent_plan: { entries: z.array(planEntry) },
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
  artifact: text.describe('The file that all output of the step is written to.'),
  offset: count
    .nullable()
    .describe('The byte of that file at which the text begins; null if it is not known.'),
})

/** The name of the component that describes an event, such as `CaseCreatedEvent`. */
export function eventName(type: string): string {
  return `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`
}

function event(type: string, payload: z.ZodType): z.ZodType {
  return z
    .object({ event_type: z.literal(type), timestamp: time, payload })
    .meta({ id: eventName(type), description: 'An event.' })
}

const ofSession = (fields: z.ZodRawShape) =>
  z.looseObject({ ...fields, case_id: id, session_id: id })

/** Every event of the log, of webhooks and of streams, by its type. */
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
/** What webhooks are sent: the events that one can register for, and the ping of a test. */
export const SENT_EVENTS = [...DEFAULT_EVENTS, ...FURTHER_EVENTS, 'ping']
/** The event types of each stream, by the component for any event of it. */
export const STREAMED = {
  LogEvent: ALL,
  SessionEvent: [...Object.keys(TRAIL), 'session_output', 'resync', 'ping'],
} as const satisfies Record<string, readonly string[]>

export type Streamed = keyof typeof STREAMED

/** The component for any event of a stream; `event_type` says which. */
export function anyOfThem(streamed: Streamed): Json {
  const refs = STREAMED[streamed].map((type) => [type, `#/components/schemas/${eventName(type)}`])
  return {
    description: 'The JSON in the `data` of an event; its `event` is the same as `event_type`.',
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'event_type', mapping: Object.fromEntries(refs) },
  }
}
