import * as z from 'zod'
import { SESSION_TYPES } from '../../model/case-state.ts'
import { MAX_FAILED_TESTS } from '../../model/failed-test.ts'
import { MAX_REFUSED } from '../../model/refused-actions.ts'
import { SESSION_STATES } from '../../model/session-state.ts'
import { problem } from './case-responses.ts'
import { count, hash, id, type JsonOf, providerName, sentId, time } from './primitives.ts'
import { oneLine, upTo, WORDS } from './text-fields.ts'

const changed = { file: z.string(), additions: count, deletions: count }

const diff = z
  .object({ ...changed, files: z.exactOptional(z.array(z.object(changed))) })
  .meta({ id: 'Diff', description: '`file` has most changed lines, the counts are totals.' })

const tests = z.object({ run: count, passed: count, failed: count }).meta({ id: 'TestCounts' })

const failedTest = z
  .object({
    name: z.string().describe('With the names of its parents before it: `suite > case`.'),
    message: z.string().nullable(),
    file: z.string().nullable().describe('Relative to the working folder where it is below it.'),
    line: z.int().nullable(),
  })
  .meta({ id: 'FailedTest' })

const usageCounts = {
  input_tokens: count.nullable().describe('All of them, those from the cache included.'),
  output_tokens: count.nullable().describe('All of them, those for reasoning included.'),
  cached_tokens: count.nullable().describe('Those of `input_tokens` that came from the cache.'),
  cost_usd: z
    .number()
    .min(0)
    .nullable()
    .describe('As the agent estimates it; null where it does not say.'),
}

export const session = z
  .object({
    id,
    case_id: id,
    number: z.int().min(1),
    state: z.enum(SESSION_STATES),
    type: z.enum(SESSION_TYPES),
    hypothesis: z.string(),
    plan: z.string(),
    output: z.string(),
    diff: diff.nullable(),
    tests: tests.nullable(),
    failed_tests: z
      .array(failedTest)
      .describe(`The first failed tests, ${MAX_FAILED_TESTS} at most; \`tests\` counts all.`),
    refused: z
      .object({
        plan: count.describe('How many while it planned.'),
        work: count.describe('How many at work.'),
        first: z
          .array(
            z.object({
              time,
              mode: z.enum(['plan', 'work']),
              tool: z.string(),
              action: z
                .string()
                .nullable()
                .describe('The path, command or request, if it is known.'),
              reason: z.string(),
            }),
          )
          .describe(`The first ones, ${MAX_REFUSED} at most, those at work before the others.`),
      })
      .describe(
        'What its agent wanted to do and was not allowed to. It does not decide how the session ends.',
      ),
    proof_attached: z.boolean(),
    created_at: time,
    updated_at: time,
    provider: z.string(),
    started_at: time,
    completed_at: time.nullable(),
    durations: z
      .object({
        planned_ms: count.nullable(),
        waited_ms: count.nullable(),
        ran_ms: count.nullable(),
      })
      .describe(
        'How long it planned, waited for approval, and ran; what still goes on is not counted.',
      ),
    usage: z
      .array(
        z.object({
          mode: z.enum(['plan', 'work']),
          started_at: time,
          model: z
            .string()
            .nullable()
            .describe('Several are joined by commas, the one with most tokens first.'),
          ...usageCounts,
        }),
      )
      .describe(
        'What the agent says that it used, for each of its runs: planning, planning again, working.',
      ),
    usage_total: z
      .object({
        runs: count,
        ...usageCounts,
        incomplete: z
          .boolean()
          .describe('Whether a run does not say what others say: the sums are lower bounds.'),
      })
      .describe('The sum of `usage`.'),
    plan_sha256: hash.nullable().describe('Of `plan` as it stands; null while there is none.'),
    plan_unchanged: z
      .boolean()
      .describe('Whether the newest plan is identical to the one that was sent back.'),
    candidates: z.array(z.object({ artifact: z.string(), note: z.string() })),
    problems: z.array(problem),
  })
  .meta({ id: 'Session' })

export const revision = z
  .object({
    plan_sha256: z.string(),
    at: time,
    by: z.enum(['provider', 'request', 'hand']),
    note: z.string().nullable().describe('What the operator asked for before it was written.'),
    text: z.string().nullable().describe('Null where it is not known on this machine.'),
    current: z.boolean(),
  })
  .meta({ id: 'PlanRevision' })

export const artifact = z
  .object({
    artifact: z.string(),
    size: count,
    updated_at: time,
    candidate: z.boolean().describe('Whether it can be attached as proof.'),
    note: z.string().nullable(),
  })
  .meta({ id: 'Artifact' })

export const newSessionSchema = z
  .object({
    type: z.enum(SESSION_TYPES).optional(),
    provider: providerName.optional(),
    note: upTo(20_000).optional(),
    again: sentId.optional(),
  })
  .check(({ value, issues }) => {
    if (value.type !== undefined || value.again !== undefined) return
    const message = `expected one of ${SESSION_TYPES.join(', ')}, or "again" with the id of a session that failed`
    issues.push({ code: 'custom', path: ['type'], message, input: undefined })
  })

export const planSchema = z.object({
  plan: z.string().regex(WORDS, 'expected a plan that says something'),
  hypothesis: z.string().optional(),
})

export const approveSchema = z.object({
  plan_sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'expected the 64 hex digits of plan_sha256')
    .toLowerCase()
    .optional(),
})

export const reviseSchema = z.object({
  note: upTo(20_000).regex(WORDS, 'expected what to change'),
})

export const abandonSchema = z.object({ reason: oneLine(2000).optional() })

export type SessionJson = JsonOf<typeof session>
export type ArtifactJson = JsonOf<typeof artifact>
export type PlanRevisionJson = JsonOf<typeof revision>
