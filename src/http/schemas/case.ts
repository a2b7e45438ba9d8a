import * as z from 'zod'
import { CASE_FIELDS } from '../../model/case-fields.ts'
import { CASE_STATES } from '../../model/case-state.ts'
import { settableShape } from './case-fields.ts'
import { oneLine, upTo, WORDS } from './text-fields.ts'

/** What requests send about a case. Unknown fields are dropped. */

export const newCaseSchema = z.object(settableShape)

export const caseFieldsSchema = newCaseSchema.partial({ title: true })

export const stateSchema = z.object({
  state: z.string().meta({ enum: [...CASE_STATES] }),
  outcome: settableShape.outcome,
  reason: oneLine(CASE_FIELDS.reason.max).nullish(),
})

export const answerSchema = z.object({
  text: upTo(20_000).regex(WORDS, 'expected an answer that says something'),
})
