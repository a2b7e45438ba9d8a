import * as z from 'zod'
import { baseLine, testsBeforeLine, testsComparedLine } from './before-run-text.ts'
import { lineOf, say } from './event-line.ts'
import { entry, given, optional, text } from './event-row.ts'
import { count, id } from './schemas.ts'

const leftBy = z.object({ case_id: id, number: count, title: text, state: text, files: count })
const failedTest = z.object({
  name: text,
  message: z.nullable(text),
  file: z.nullable(text),
  line: z.nullable(count),
})

/** The rows of the table of events about what was there before the first step of a run. */
export const BEFORE_RUN_EVENTS = {
  base_recorded: entry(
    {
      /** What HEAD is; missing without a commit. */
      commit: optional(text),
      /** What HEAD was when the plan was approved, if the session then waited in line. */
      queued_commit: optional(text),
      /** Missing for a detached HEAD. */
      branch: optional(text),
      /** The number of uncommitted files; missing if it is not known. */
      uncommitted: optional(count),
      /** The first of them. */
      files: optional(z.array(text)),
      /** Whether there are more than `uncommitted`. */
      is_cut: optional(z.literal(true)),
      /** The sessions that left some of them. */
      left_by: optional(z.array(leftBy)),
      /** Why it is not known. */
      reason: optional(text),
    },
    {
      line: (fields) => {
        const isClean = fields.uncommitted === 0
        return lineOf(isClean || fields.reason !== undefined ? 'quiet' : 'warn', baseLine(fields))
      },
      example: {
        commit: '4f2c1d9e7a5b3c8d6e0f1a2b3c4d5e6f7a8b9c0d',
        branch: 'main',
        uncommitted: 1,
        files: ['src/token.js'],
      },
    },
  ),
  tests_before: entry(
    {
      step: given,
      run: optional(count),
      passed: optional(count),
      failed: optional(count),
      /** The names of the first failed tests. */
      failing: optional(z.array(text)),
      /** Why the tests are not known, or not all of them. */
      reason: optional(text),
    },
    {
      line: (fields) => lineOf('plain', testsBeforeLine(fields)),
      example: {
        step: 'test',
        run: 47,
        passed: 45,
        failed: 2,
        failing: ['a token is accepted at once', 'a token expires'],
      },
    },
  ),
  tests_compared: entry(
    {
      step: given,
      run: count,
      failed: count,
      fixed: count,
      still: count,
      broken: count,
      added: count,
      gone: count,
      /** The first names of each kind. */
      names: optional(z.record(text, z.array(text))),
      /** A report has more tests than are compared by name. */
      is_cut: optional(z.literal(true)),
    },
    {
      line: (fields) => {
        const isWorse = Number(fields.broken) + Number(fields.added) + Number(fields.gone) > 0
        return lineOf(isWorse ? 'bad' : 'plain', testsComparedLine(fields))
      },
      example: {
        step: 'test',
        run: 47,
        failed: 0,
        fixed: 2,
        still: 0,
        broken: 0,
        added: 0,
        gone: 0,
        names: { fixed: ['a token is accepted at once', 'a token expires'] },
      },
    },
  ),
  tests_read: entry(
    {
      run: count,
      passed: count,
      failed: count,
      flaky: count.optional(),
      /** The first of them. */
      failed_tests: optional(z.array(failedTest)),
    },
    {
      line: ({ run, passed, failed, flaky }) =>
        failed === 0
          ? lineOf(
              'good',
              `${say(passed)} of ${say(run)} tests pass${flaky === undefined ? '' : `, ${say(flaky)} flaky`}`,
            )
          : lineOf('bad', `${say(failed)} of ${say(run)} tests failed`),
      example: { run: 23, passed: 23, failed: 0 },
    },
  ),
} as const
