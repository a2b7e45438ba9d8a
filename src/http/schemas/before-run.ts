import * as z from 'zod'
import { MAX_BASE_FILES, MAX_COMPARED_NAMES } from '../../model/before-run-text.ts'
import { count, id } from '../../model/schemas.ts'

/** What was in the working folder before the first step of a run. */
export const base = z
  .object({
    commit: z.string().nullable().describe('Null without a commit.'),
    branch: z.string().nullable().describe('Null for a detached HEAD.'),
    uncommitted: count.nullable().describe('How many files were not committed; null if unknown.'),
    queued_commit: z
      .string()
      .nullable()
      .describe('The commit at the approval, if the session then waited in line.'),
    is_cut: z.boolean().describe('Whether there were more files than `uncommitted`.'),
    files: z.array(z.string()).describe(`The first ${MAX_BASE_FILES} of them at most.`),
    left_by: z
      .array(
        z.object({
          case_id: id,
          number: count.describe('The number of the session.'),
          title: z.string().describe('The title of its case.'),
          state: z.string(),
          files: count,
        }),
      )
      .describe('The sessions that left some of them.'),
    reason: z.string().nullable().describe('Why it is not known; null if it is.'),
  })
  .meta({ id: 'Base' })

const names = z.array(z.string())

const compared = z
  .object({
    run: count.describe('After the run.'),
    failed: count.describe('After the run.'),
    fixed: count.describe('Failed before, pass now.'),
    still: count.describe('Failed before, and still do.'),
    broken: count.describe('Passed before, and fail now.'),
    added: count.describe('Were not there before, and fail.'),
    gone: count.describe('Failed before, and did not run now.'),
    names: z
      .object({ fixed: names, still: names, broken: names, added: names, gone: names })
      .describe(`The first ${MAX_COMPARED_NAMES} names of each kind.`),
    is_cut: z.boolean().describe('Whether some tests could not be compared by name.'),
  })
  .meta({ id: 'TestsCompared' })

/** What the tests said before the run. */
export const testsBefore = z
  .object({
    run: count,
    passed: count,
    failed: count,
    failing: names.describe('The names of the first failed tests.'),
    steps: z.array(
      z.object({
        step: z.string(),
        tests: z
          .object({ run: count, passed: count, failed: count })
          .nullable()
          .describe('Null if no report could be read.'),
        reason: z.string().nullable().describe('Why it could not be read, or not as a whole.'),
      }),
    ),
    compared: compared.nullable().describe('Null until the same steps ran again.'),
  })
  .meta({ id: 'TestsBefore' })
