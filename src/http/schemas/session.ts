import * as z from 'zod'
import { MAX_FAILED_TESTS } from '../../model/failed-test.ts'
import { count, hash, id, sessionState, sessionType, time } from '../../model/schemas.ts'
import { approvalSignature } from './approval.ts'
import { base, testsBefore } from './before-run.ts'
import { CANDIDATES, candidate } from './candidate.ts'
import { problem } from './case.ts'
import { sessionComments } from './comment.ts'
import { caseIdParam, PLAN, RESOLVED, sessionIdParam } from './params.ts'
import { exampleOf, type JsonOf, lineNumber } from './primitives.ts'
import { queuePlace } from './queue.ts'
import { runFindings } from './run-findings.ts'
import { notBlank, oneLine, planHash, upTo } from './text-fields.ts'
import { runUsage } from './usage.ts'
import { isolationFacts } from './worktree.ts'

const changed = {
  file: z.string(),
  additions: count,
  deletions: count,
}

const changedFile = z.object(changed).meta({ id: 'ChangedFile' })

const files = z
  .exactOptional(z.array(changedFile))
  .describe('Each changed file, if there are several.')

const diff = z.object({ ...changed, files }).meta({
  id: 'Diff',
  description:
    'The changed lines. `file` is the file with the most of them; the counts are totals.',
})

export const flaky = count
  .optional()
  .describe('How many of the passed tests passed on a retry; missing if none.')

const tests = z
  .object({
    run: count,
    passed: count,
    failed: count,
    flaky,
  })
  .meta({ id: 'TestCounts' })

export const failedTest = z
  .object({
    name: z.string().describe('Includes the names of its parents: `suite > case`.'),
    message: z.string().nullable().describe('Why it failed.'),
    file: z
      .string()
      .nullable()
      .describe('Relative to the working folder, if it is in that folder.'),
    line: z.int().nullable(),
  })
  .meta({ id: 'FailedTest' })

const durations = z
  .object({
    planned_ms: count.nullable().describe('Milliseconds of planning.'),
    waited_ms: count.nullable().describe('Milliseconds of waiting for approval, and in line.'),
    ran_ms: count.nullable().describe('Milliseconds of the approved run.'),
    steps_ms: count
      .nullable()
      .describe('Of `ran_ms`, the agent and the steps. The rest is work of the service.'),
  })
  .meta({ id: 'Durations' })

const NO_COMMENTS = { draft: 0, open: 0, total: 0, list: [] }
const NO_FINDINGS = {
  refused: {
    plan: 0,
    work: 0,
    first: [],
  },
  runs_later: [],
  runs_later_more: 0,
  runs_later_artifact: null,
  out_of_scope: [],
  out_of_scope_calls: [],
  plan_violation: null,
}

export const session = z
  .object({
    id,
    case_id: id,
    number: lineNumber.describe('1 for the first session of the case.'),
    state: sessionState,
    type: sessionType,
    hypothesis: z.string().describe('What the agent thinks the cause is, in markdown.'),
    plan: z.string().describe('What it wants to do, in markdown, with the steps to run.'),
    output: z
      .string()
      .describe('How each step ended, and the last lines of what failed, as markdown.'),
    failure: z.string().nullable().describe('Why it failed, in one line; null if it did not.'),
    diff: diff.nullable().describe('Null if no file has changed, or it is not known.'),
    tests: tests.nullable(),
    failed_tests: z
      .array(failedTest)
      .describe(`The first ${MAX_FAILED_TESTS} at most; \`tests\` counts all.`),
    base: base
      .nullable()
      .describe('What was in the working folder before the first step; null before that.'),
    tests_before: testsBefore
      .nullable()
      .describe('The tests before the run, if a step of the plan has the key `baseline`.'),
    findings: runFindings.describe('What to look at first in what it did.'),
    proof_attached: z.boolean().describe('Whether it has proof.'),
    created_at: time,
    updated_at: time,
    provider: z.string().describe('The agent that plans and runs it, or `runbook`.'),
    origin: z
      .enum(['service', 'terminal'])
      .describe(
        'Who started the agent: the service, or (`terminal`) a person, whose agent reports by its hooks.',
      ),
    ...isolationFacts,
    completed_at: time
      .nullable()
      .describe('When it completed, failed or was abandoned; null before.'),
    durations: durations.describe(
      'How long it planned, waited for approval and ran; null for a phase that has not ended.',
    ),
    usage: z.array(runUsage).describe('What each run of the agent used, as the agent reports it.'),
    plan_sha256: hash
      .nullable()
      .describe('SHA-256 of the present `plan`, in hex; null without a plan.'),
    queue: queuePlace
      .nullable()
      .describe('Its place in line, if it is approved and waits for its working folder.'),
    signature: approvalSignature
      .nullable()
      .describe('The signature of its approval; null if it has none.'),
    candidates: z.array(candidate),
    comments: sessionComments,
    problems: z.array(problem).describe('The problems of its file.'),
  })
  .meta({
    id: 'Session',
    examples: [
      {
        id: exampleOf(sessionIdParam),
        case_id: exampleOf(caseIdParam),
        number: 1,
        state: 'plan_ready',
        type: 'implementing',
        hypothesis: 'A time in seconds is compared with a clock in milliseconds.',
        plan: PLAN.text,
        output: '',
        failure: null,
        diff: null,
        tests: null,
        failed_tests: [],
        base: null,
        tests_before: null,
        findings: NO_FINDINGS,
        proof_attached: false,
        created_at: '2026-11-20T09:54:00.005Z',
        updated_at: '2026-11-20T09:54:00.086Z',
        provider: 'runbook',
        origin: 'service',
        isolation: null,
        worktree: null,
        completed_at: null,
        durations: {
          planned_ms: 81,
          waited_ms: null,
          ran_ms: null,
          steps_ms: null,
        },
        usage: [],
        plan_sha256: PLAN.plan_sha256,
        queue: null,
        signature: null,
        candidates: [],
        comments: NO_COMMENTS,
        problems: [],
      },
      {
        id: RESOLVED.sid,
        case_id: RESOLVED.id,
        number: 1,
        state: 'complete',
        type: 'implementing',
        hypothesis: 'All passwords are hashed with one salt.',
        plan: 'Give every password its own salt.\n\n```sh run id=test timeout=60s proof=tap\nnpm test --silent\n```',
        output: '- test: exit 0, 1.6 s, 1 of 1 test passed',
        failure: null,
        diff: {
          file: 'src/password.js',
          additions: 2,
          deletions: 3,
        },
        tests: {
          run: 1,
          passed: 1,
          failed: 0,
        },
        failed_tests: [],
        base: {
          commit: '4f2c1d9e7a5b3c8d6e0f1a2b3c4d5e6f7a8b9c0d',
          branch: 'main',
          uncommitted: 1,
          queued_commit: null,
          is_cut: false,
          files: ['notes.txt'],
          left_by: [],
          reason: null,
        },
        tests_before: null,
        findings: NO_FINDINGS,
        proof_attached: true,
        created_at: '2026-11-11T13:05:00.017Z',
        updated_at: '2026-11-11T13:11:00.092Z',
        provider: 'runbook',
        origin: 'service',
        isolation: null,
        worktree: null,
        completed_at: '2026-11-11T13:09:33.568Z',
        durations: {
          planned_ms: 64,
          waited_ms: 271_800,
          ran_ms: 1675,
          steps_ms: 1240,
        },
        usage: [],
        plan_sha256: '61f218ffd001bbadf13367b04172488a067e47447c3ac98d7567a28f4f3f76bb',
        queue: null,
        signature: null,
        candidates: CANDIDATES,
        comments: NO_COMMENTS,
        problems: [],
      },
    ],
  })

export const revision = z
  .object({
    plan_sha256: z.string().describe('SHA-256 of the plan, in hex.'),
    at: time,
    by: z
      .enum(['provider', 'request', 'hand'])
      .describe(
        '`provider`: the agent or runbook. `request`: this API. `hand`: an edit of the file.',
      ),
    note: z
      .string()
      .nullable()
      .describe(
        'What the operator asked to change in the plan before, if this plan is the answer.',
      ),
    text: z
      .string()
      .nullable()
      .describe('The plan; null if this machine does not have it, or newer ones fill 1 MiB.'),
    current: z.boolean().describe('Whether it is the plan in the file.'),
  })
  .meta({
    id: 'PlanRevision',
    examples: [
      {
        ...PLAN,
        at: '2026-11-20T09:54:00.086Z',
        by: 'provider',
        note: null,
        current: true,
      },
    ],
  })

export const planSchema = z
  .object({
    plan: notBlank('a plan'),
    hypothesis: z.string().optional().describe('If it is missing, the present hypothesis stays.'),
    expected_plan_sha256: planHash
      .optional()
      .describe(
        'SHA-256 of the plan that you edited, in hex. The request fails if it has changed.',
      ),
  })
  .meta({ id: 'NewPlan', examples: [{ plan: 'Read `src/token.js`, and say what is wrong.' }] })

export const changeRequestSchema = z
  .object({
    note: upTo(20_000)
      .optional()
      .describe('What should change. Required if the session has no comments to send.'),
  })
  .meta({ id: 'ChangeRequest', examples: [{ note: 'Test the boundary too.' }] })

export const abandonSchema = z
  .object({ reason: oneLine(2000).optional().describe('Why, in one line.') })
  .meta({ id: 'AbandonRequest', examples: [{ reason: 'Solved elsewhere.' }] })

const LEFT_OUT = 'Missing with `content=false`.'
const listedText = z.string().optional().describe(LEFT_OUT)
const { list } = sessionComments.shape

export const listedSession = session
  .extend({
    hypothesis: listedText,
    plan: listedText,
    output: listedText,
    comments: sessionComments.extend({ list: list.optional().describe(LEFT_OUT) }),
  })
  .meta({ id: 'ListedSession', examples: session.meta()!.examples! })

export type SessionHeadJson = Omit<SessionJson, 'hypothesis' | 'plan' | 'output' | 'comments'> & {
  comments: Omit<SessionJson['comments'], 'list'>
}
export type SessionJson = JsonOf<typeof session>
export type PlanRevisionJson = JsonOf<typeof revision>
