import * as z from 'zod'
import { SESSION_TYPES } from '../../model/case-state.ts'
import { MAX_INTENT } from '../../model/intent.ts'
import { sessionType } from '../../model/schemas.ts'
import { providerName, sentId } from './primitives.ts'
import { oneLine, upTo } from './text-fields.ts'
import { isolationChoice } from './worktree.ts'

const INTENT_LISTS = ['paths', 'commands', 'proof'] as const
const entries = z.array(z.string().min(1).max(300)).max(100).optional()

/** The smallest plan, as `intentPlan` writes it. */
export const intentFields = {
  intent: oneLine(MAX_INTENT)
    .optional()
    .describe(
      'What should be done, in one sentence. It is the plan of the session then: nothing plans, and it waits for approval at once.',
    ),
  paths: entries.describe('Only with `intent`: globs of the files that may be written.'),
  commands: entries.describe('Only with `intent`: the first words of commands that may run.'),
  proof: entries.describe('Only with `intent`: commands that prove it. They may run, too.'),
}

const INTENT = {
  intent: 'Reject a token at the moment at which it expires.',
  paths: ['src/token.js', 'test/**'],
  commands: [],
  proof: ['npm test'],
}

export const newSessionSchema = z
  .object({
    type: sessionType.optional(),
    provider: providerName
      .optional()
      .describe('By default the provider of the case, or else of the workspace.'),
    note: upTo(20_000).optional().describe('Instructions for the agent.'),
    again: sentId
      .optional()
      .describe(
        'Not with `intent`: the id of a session that failed, or that is complete and has comments, to plan again.',
      ),
    isolation: isolationChoice,
    plan: z
      .never('expected no plan: `intent` is the plan of a new session, else its provider plans')
      .optional()
      .describe('Not accepted: `intent` is the plan, or the provider plans.'),
    ...intentFields,
  })
  .check(({ value, issues }) => {
    const { type, again, intent } = value
    const lists = INTENT_LISTS.filter((key) => value[key] !== undefined)
    if (intent === undefined && lists.length > 0) {
      const message = 'expected what should be done, in one sentence'
      issues.push({ code: 'custom', path: ['intent'], message, input: undefined })
    }
    if (intent !== undefined && again !== undefined) {
      const message = 'expected a new session: an intent is not planned'
      issues.push({ code: 'custom', path: ['again'], message, input: again })
    }
    if (type !== undefined || again !== undefined || intent !== undefined) return
    const message = `expected one of ${SESSION_TYPES.join(', ')}, or "again" with the id of a session to plan again`
    issues.push({
      code: 'custom',
      path: ['type'],
      message,
      input: undefined,
    })
  })
  .meta({
    id: 'NewSession',
    examples: [{ type: 'implementing' }, INTENT],
  })
