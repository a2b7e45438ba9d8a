import * as z from 'zod'
import { ATTENTION_KINDS } from '../../model/attention.ts'
import {
  type CaseFieldName,
  FIELD_LIST,
  FILTERED,
  type FilteredField,
} from '../../model/case-fields.ts'
import { HISTORY_KINDS } from '../../model/history.ts'
import { PROBLEM_CODES } from '../../model/problem.ts'
import { OBJECTION_CODES } from '../../model/support.ts'
import { responseShape } from './case-fields.ts'
import { count, id, type JsonOf, time } from './primitives.ts'

export const problem = z
  .object({
    code: z.enum(PROBLEM_CODES),
    file: z.string().describe("Relative to the case's folder, or to the workspace."),
    line: z.int().min(1).nullable().describe('Null for the whole file.'),
    message: z.string(),
  })
  .meta({ id: 'Problem', description: 'Something wrong with a file, that a person can fix.' })

export const caseSchema = z
  .object({
    id,
    ...responseShape<CaseFieldName>(FIELD_LIST),
    created_at: time,
    updated_at: time.describe('Of the last change of `case.md`.'),
    problems: z.array(problem),
  })
  .meta({ id: 'Case' })

const needs = z
  .object({
    kind: z.enum(ATTENTION_KINDS),
    session_id: id.nullable(),
    session: z.int().min(1).nullable().describe('The number of that session.'),
    text: z.string(),
  })
  .meta({ id: 'Attention', description: 'What a case needs from the operator.' })

export const triageRow = z
  .object({
    id,
    title: z.string(),
    ...responseShape<FilteredField>(FILTERED),
    updated_at: time.describe('Of the last change of `case.md`, of a trail, or of a proof.'),
    created_at: time,
    needs: needs.nullable(),
    since: time.nullable().describe('Since when it needs that.'),
    sessions: count,
    running: z.boolean().describe('Whether a session plans or executes on this machine.'),
    problems: count,
    gate: z.object({ open: z.boolean(), verified: count, missing: count }),
  })
  .meta({ id: 'TriageRow' })

export const historyEntry = z
  .object({
    at: time.nullable().describe('Null for a note that names no time.'),
    who: z.string().nullable().describe('Null if the files do not say.'),
    what: z.string(),
    text: z.string().nullable().describe('Why: the reason, the question, the note.'),
    kind: z.enum(HISTORY_KINDS).describe('`note` is a line that a person wrote.'),
    session: z.int().min(1).nullable().describe('The number of the session that is meant.'),
    recorded: z.boolean().describe('False for what only other files of the case say.'),
  })
  .meta({ id: 'HistoryEntry', description: 'Something that happened to a case.' })

export const gateItem = z
  .object({
    description: z.string(),
    type: z.string().nullable(),
    required: z.boolean(),
    checked: z.boolean().describe('The tick of a person, which the gate does not look at.'),
    satisfied_by: id.nullable().describe('The verified proof of that type that supports it.'),
  })
  .meta({ id: 'ChecklistItem' })

export const gate = z
  .object({
    open: z.boolean(),
    verified: count,
    items: z.array(gateItem),
    missing: z.array(z.string()),
    objections: z
      .array(
        z.object({
          id,
          type: z.string(),
          code: z.enum(['not_verified', ...OBJECTION_CODES]),
          reason: z.string(),
        }),
      )
      .describe('The proofs that do not count, and why.'),
  })
  .meta({ id: 'Gate', description: 'Whether the case may be RESOLVED.' })

export const deleted = z.object({ id, deleted: z.literal(true) }).meta({
  id: 'Deleted',
})

export type CaseJson = JsonOf<typeof caseSchema>
export type TriageRowJson = JsonOf<typeof triageRow>
export type HistoryEntryJson = JsonOf<typeof historyEntry>
export type GateJson = JsonOf<typeof gate>
export type GateItemJson = JsonOf<typeof gateItem>
export type DeletedJson = JsonOf<typeof deleted>
