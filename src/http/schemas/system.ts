import * as z from 'zod'
import { ERROR_CODES } from '../../model/app-error.ts'
import { gate, problem } from './case-responses.ts'
import { count, hash, id, type JsonOf, time } from './primitives.ts'
import { WORDS } from './text-fields.ts'

export const health = z
  .object({
    status: z.literal('ok'),
    indexing: z
      .boolean()
      .describe('The files are still being read after a start: what needs them waits for it.'),
    cases: count.describe('While indexing, those that were read so far.'),
    watching: z.enum(['ok', 'starting', 'degraded']),
    message: z.exactOptional(z.string()),
    remedy: z.exactOptional(z.string()),
    webhooks: z.object({ active: count, paused: count, disabled: count, failing: count }),
    problems: z.array(problem).describe('Those that belong to no case.'),
  })
  .meta({ id: 'Health' })

export const version = z
  .object({
    version: z.string(),
    commit: z.string().nullable(),
    node: z.string(),
    started_at: time,
  })
  .meta({ id: 'Version' })

export const provider = z
  .object({
    id: z.string(),
    kind: z.enum(['runbook', 'command', 'acp']),
    title: z.string(),
    available: z.boolean(),
    path: z.string().nullable(),
    version: z.string().nullable(),
    warning: z.string().nullable(),
    plan_mode: z.object({
      holds: z.enum(['sandbox', 'tools', 'asks', 'advice', 'none', 'runs_nothing']),
      note: z.string(),
    }),
    source: z.enum(['built-in', 'casefile.md']),
    trusted: z.boolean(),
    advice: z.string(),
  })
  .meta({ id: 'Provider' })

export const providerResult = z
  .object({
    provider: z.string(),
    text: z.string().describe('Hypothesis and plan in one.'),
    hypothesis: z.string(),
    plan: z.string(),
  })
  .meta({ id: 'ProviderResult' })

const running = z
  .exactOptional(z.object({ case_id: id, session_id: id }))
  .describe('The session that is in the way, or that asked.')

/** Every refusal; the members behind `errors` come with the codes that they are for. */
export const problemDetails = z
  .object({
    type: z.string().regex(/^urn:casefile:/),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What was refused, why, and what to do next.'),
    code: z.enum(ERROR_CODES),
    errors: z
      .exactOptional(z.array(z.object({ path: z.string(), message: z.string() })))
      .describe('One for each wrong field; there with every 400.'),
    accept: z
      .exactOptional(z.string())
      .describe('unsupported_media_type: the type to send; also in the header Accept.'),
    accept_encoding: z
      .exactOptional(z.string())
      .describe('unsupported_media_type: the coding to send; also in Accept-Encoding.'),
    etag: z.exactOptional(z.string().nullable()).describe('precondition_failed: the present one.'),
    plan_sha256: z.exactOptional(hash).describe('plan_changed: the hash that the plan has now.'),
    running,
    missing: z.exactOptional(z.array(z.string())).describe('proof_gate: what is still needed.'),
    gate: z.exactOptional(gate),
    problem: z.exactOptional(problem).describe('What is wrong with the file, or would be.'),
  })
  .meta({ id: 'ProblemDetails', description: 'An error, as RFC 9457 has it.' })

export const promptSchema = z.object({
  prompt: z.string().regex(WORDS, 'expected a prompt that says something'),
})

export type HealthJson = JsonOf<typeof health>
export type VersionJson = JsonOf<typeof version>
export type ProviderJson = JsonOf<typeof provider>
export type ProviderResultJson = JsonOf<typeof providerResult>
