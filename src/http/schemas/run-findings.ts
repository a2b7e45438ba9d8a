import * as z from 'zod'
import { MAX_REFUSED } from '../../model/refused-actions.ts'
import { count, runMode, time } from '../../model/schemas.ts'

const refusedAction = z
  .object({
    time,
    mode: runMode,
    tool: z.string().describe('The tool of the agent.'),
    action: z.string().nullable().describe('The path, command or request, if known.'),
    reason: z.string(),
  })
  .meta({ id: 'RefusedAction' })

const refusedActions = z
  .object({
    plan: count.describe('How many while the agent planned.'),
    work: count.describe('How many while it carried out the plan.'),
    first: z
      .array(refusedAction)
      .describe(
        `The first ${MAX_REFUSED} at most; those of \`work\` come before those of \`plan\`.`,
      ),
  })
  .meta({ id: 'RefusedActions' })

const runsLater = z.object({
  file: z
    .string()
    .describe('From the working folder, or from `~`. A git repository ends with a slash.'),
  change: z
    .enum(['new', 'changed', 'mode', 'deleted'])
    .describe('`mode`: only whether it is an executable changed.'),
  starts: z.string().describe('What runs it, and when.'),
  scripts: z
    .array(z.string())
    .nullable()
    .describe('The changed scripts and fields of a package.json; else null.'),
})

const outOfScopeCall = z
  .object({
    tool: z.string().describe('The tool of the agent.'),
    action: z.string().nullable().describe('The path or command, if known.'),
    reason: z.string(),
    ran: z
      .boolean()
      .describe('Whether it ran, so the person allowed it in the dialog of the agent.'),
  })
  .meta({ id: 'OutOfScopeCall' })

/** What the operator should look at first in what a session did. */
export const runFindings = z
  .object({
    refused: refusedActions.describe(
      'What its agent tried to do but was not allowed to. The session can complete all the same.',
    ),
    runs_later: z
      .array(runsLater)
      .describe(
        'The files that its run added, changed or deleted and that other programs may run later, outside the sandbox: facts, not verdicts. Also files that git ignores. Of many with one trigger only the first.',
      ),
    runs_later_more: count.describe('How many more there are.'),
    runs_later_artifact: z
      .string()
      .nullable()
      .describe('The artifact that lists all of them, if there are more.'),
    out_of_scope: z
      .array(z.string())
      .describe(
        'The files outside the scope of its plan that changed during the run. Some are missing if there are very many.',
      ),
    out_of_scope_calls: z
      .array(outOfScopeCall)
      .describe(
        'The calls outside the scope that the agent asked its person about. Those that ran come first; the first 20 at most.',
      ),
    plan_violation: z
      .object({ files: z.array(z.string()) })
      .nullable()
      .describe(
        'What changed in the working folder before the plan was approved, perhaps by a person; its diff has it too. Proof from such a session counts only if it is accepted with a reason.',
      ),
  })
  .meta({ id: 'Findings' })
