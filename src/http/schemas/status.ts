import * as z from 'zod'
import { ACTS } from '../../model/next-act.ts'
import { count, id } from '../../model/schemas.ts'
import { exampleOf, type JsonOf } from './primitives.ts'
import { caseSetup } from './setup.ts'

const nextAct = z
  .object({
    act: z.enum(ACTS),
    label: z.string().describe('In the words of a button.'),
    session: count.nullable().describe('The number of the session concerned.'),
    artifact: z.string().nullable().describe('The file of a session to attach.'),
    proof: id.nullable().describe('The id of a proof.'),
    proof_type: z.string().nullable().describe('The type of the proof to attach.'),
  })
  .meta({ id: 'NextAct', description: 'The one thing that comes next.' })

export const status = z
  .object({
    headline: z.string(),
    detail: z.string().describe('Why, or what that means; may be empty.'),
    next: nextAct
      .nullable()
      .describe("Null if nothing is left, or if it is not the operator's turn."),
    session: count.nullable().describe('The number of the session that the headline is about.'),
    tone: z.enum(['info', 'warn', 'bad', 'good']),
    start: caseSetup
      .nullable()
      .describe('What a new session would plan with; null if files that say so cannot be read.'),
  })
  .meta({
    id: 'Status',
    examples: [
      {
        headline: 'Session 1 passed 23 of 23 tests.',
        detail: '1-test.tap (23 of 23 tests passed) would meet "All tests pass".',
        next: {
          act: 'attach',
          label: 'Attach 1-test.tap as "All tests pass"',
          session: 1,
          artifact: '1-test.tap',
          proof: null,
          proof_type: 'test-log',
        },
        session: 1,
        tone: 'info',
        start: { ...exampleOf(caseSetup), plans_from: 'runbook', intent: null },
      },
    ],
  })

export type StatusJson = JsonOf<typeof status>
