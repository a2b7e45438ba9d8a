import * as z from 'zod'
import {
  CASE_FIELDS,
  type CaseFieldName,
  FIELD_LIST,
  FILTERED,
  type FilteredField,
} from '../../model/case-fields.ts'
import { CHANNELS } from '../../model/channels.ts'
import { MAX_COMMENT_CHARACTERS } from '../../model/comment.ts'
import { HISTORY_SOURCES } from '../../model/history.ts'
import { ACT_NAMES } from '../../model/history-act.ts'
import { OBJECTION_CODES } from '../../model/proof-objections.ts'
import { caseState, count, id, problemCode, time } from '../../model/schemas.ts'
import { exampleFields, responseShape, settableShape } from './case-fields.ts'
import { checklistItemSchema } from './checklist.ts'
import { caseIdParam, proofIdParam, sessionIdParam } from './params.ts'
import {
  atLeastOne,
  attentionKind,
  exampleOf,
  historyKind,
  type JsonOf,
  lineNumber,
} from './primitives.ts'
import { notBlank, oneLine } from './text-fields.ts'

const { title, type, description, tags } = CASE_FIELDS
const ID = exampleOf(caseIdParam)

export const newCaseSchema = z
  .object({
    ...settableShape,
    checklist: z
      .array(checklistItemSchema)
      .max(50)
      .nullish()
      .describe('The items of its proof checklist.'),
  })
  .meta({
    id: 'NewCase',
    examples: [
      {
        title: title.example,
        type: type.example,
        description: description.example,
        tags: [tags.example],
        checklist: [{ description: 'All tests pass', type: 'test-log', required: true }],
      },
    ],
  })

export const caseUpdateSchema = atLeastOne(z.object(settableShape).partial({ title: true })).meta({
  id: 'CaseUpdate',
  examples: [{ title: title.example }],
})

export const newStateSchema = z
  .object({
    ...settableShape,
    title: settableShape.title.optional(),
    state: caseState,
    reason: oneLine(CASE_FIELDS.reason.max)
      .nullish()
      .describe('Why, in one line. If it is missing, the present reason stays; null clears it.'),
  })
  .meta({
    id: 'NewState',
    examples: [
      { state: 'BLOCKED', reason: 'Waiting for operations to say where a key may be kept.' },
    ],
  })

export const answerSchema = z
  .object({ text: notBlank('an answer', 20_000).describe('The answer.') })
  .meta({ id: 'QuestionAnswer', examples: [{ text: 'Eight hours, as in the old system.' }] })

export const caseCommentSchema = z
  .object({
    text: notBlank('a comment', MAX_COMMENT_CHARACTERS).describe('The comment, as plain text.'),
  })
  .meta({ id: 'NewCaseComment', examples: [{ text: 'The clock of the build machine was wrong.' }] })

export const problem = z
  .object({
    code: problemCode,
    file: z
      .string()
      .describe("Relative to the case's folder; if it belongs to no case, to the workspace."),
    line: lineNumber.nullable().describe('Null if it is about the whole file.'),
    message: z.string().describe('What is wrong, in words.'),
  })
  .meta({
    id: 'Problem',
    description: 'A mistake in a file, for a person to fix.',
    examples: [
      {
        code: 'bad_frontmatter',
        file: 'case.md',
        line: 2,
        message: 'Flow sequence in block collection must be sufficiently indented and end with a ]',
      },
    ],
  })

const PRESENT = {
  state: 'PLANNING',
  outcome: null,
} as const

export const caseSchema = z
  .object({
    id,
    ...responseShape<CaseFieldName>(FIELD_LIST),
    created_at: time,
    updated_at: time.describe('When `case.md` last changed.'),
    problems: z.array(problem).describe('The problems of its files.'),
  })
  .meta({
    id: 'Case',
    examples: [
      {
        id: ID,
        ...exampleFields<CaseFieldName>(FIELD_LIST),
        ...PRESENT,
        source: null,
        created_at: '2026-11-20T09:50:00.001Z',
        updated_at: '2026-11-20T09:54:00.086Z',
        problems: [],
      },
    ],
  })

export const attention = z
  .object({
    kind: attentionKind,
    session_id: id.nullable().describe('The session that it is about, if any.'),
    session: lineNumber.nullable().describe('The number of that session.'),
    text: z.string().describe('The reason, in one line.'),
  })
  .meta({ id: 'Attention', description: 'What a case needs from the operator.' })

const gateSummary = z
  .object({
    open: z.boolean().describe('Whether the case may be RESOLVED.'),
    verified: count.describe('How many proofs count.'),
    missing: count.describe('How many requirements are not met.'),
  })
  .meta({ id: 'GateSummary', description: 'The `Gate` in numbers.' })

export const triageRow = z
  .object({
    id,
    title: z.string(),
    ...responseShape<FilteredField>(FILTERED),
    updated_at: time.describe(
      'When `case.md`, the audit log of a session or a proof last changed.',
    ),
    created_at: time,
    needs: attention.nullable(),
    since: time.nullable().describe('Since when the case needs that.'),
    sessions: count.describe('How many sessions it has.'),
    running: z.boolean().describe('Whether a session plans or executes on this machine.'),
    problems: count.describe('How many problems its files have.'),
    gate: gateSummary,
  })
  .meta({
    id: 'TriageRow',
    examples: [
      {
        id: ID,
        title: title.example,
        ...exampleFields<FilteredField>(FILTERED),
        ...PRESENT,
        updated_at: '2026-11-20T09:54:00.086Z',
        created_at: '2026-11-20T09:50:00.001Z',
        needs: {
          kind: 'plan',
          session_id: exampleOf(sessionIdParam),
          session: 1,
          text: 'the plan of session 1 waits for approval',
        },
        since: '2026-11-20T09:54:00.086Z',
        sessions: 1,
        running: false,
        problems: 0,
        gate: {
          open: false,
          verified: 0,
          missing: 2,
        },
      },
    ],
  })

const planOrCommit = z.string().regex(/^[0-9a-f]{8}$/)

const historyAct = z
  .object({
    name: z.enum(ACT_NAMES),
    session: lineNumber.optional().describe('The number of the session.'),
    type: z.string().optional().describe('Of the session, or of the proof.'),
    provider: z.string().optional(),
    revision: count.optional().describe('Of the plan; missing for the first one.'),
    steps: count.optional().describe('Of the plan.'),
    hash: planOrCommit.optional().describe('The beginning of the SHA-256 of the plan.'),
    comments: count.optional().describe('How many were sent with the plan.'),
    where: z.enum(CHANNELS).optional().describe('Where the plan was approved.'),
    state: z
      .enum(['complete', 'failed', 'abandoned'])
      .optional()
      .describe('How the session ended.'),
    result: z.string().optional().describe('Its tests, and what it changed.'),
    commit: planOrCommit.optional(),
    before: lineNumber.optional().describe('The earlier number of the session.'),
    proof: z.string().optional().describe('The first 8 characters of its id.'),
    artifact: z.string().optional().describe('The file that the proof comes from.'),
    item: z.string().optional().describe('The item of the checklist that it proves.'),
    from: caseState.optional(),
    to: caseState.optional(),
    outcome: z.string().optional(),
    fields: z.array(z.string()).readonly().optional().describe('The fields that were edited.'),
    by_hand: z.literal(true).optional().describe('It was done in the files.'),
  })
  .meta({ id: 'HistoryAct', description: 'What was done, with the fields of this act.' })

export const historyEntry = z
  .object({
    at: time
      .nullable()
      .describe(
        'To the minute, as in the file; null for a note without a time. Events and the audit trail are exact.',
      ),
    who: z.string().nullable().describe('Null if the files do not say.'),
    what: z
      .string()
      .describe('Such as `created the case` or `moved the case from OPEN to BLOCKED`.'),
    text: z.string().nullable().describe('The reason, question, answer or note, if there is one.'),
    kind: historyKind,
    act: historyAct
      .nullable()
      .describe('The same as a value; null for a note, which a person wrote into the file.'),
    session: lineNumber.nullable().describe('The number of the session it is about.'),
    recorded: z
      .boolean()
      .describe('Whether Casefile wrote its line in `history.md` on this machine.'),
    source: z
      .enum(HISTORY_SOURCES)
      .describe(
        'Who says so: the `service` of this machine, a commit (`git`), only the `file`, which anybody can edit, or other files of the case (`derived`); `unknown` before the first line that this machine wrote.',
      ),
  })
  .meta({
    id: 'HistoryEntry',
    description: 'Something that happened to a case.',
    examples: [
      {
        at: '2026-11-20T09:50:00.001Z',
        who: 'Ada',
        what: 'created',
        text: null,
        kind: 'created',
        act: { name: 'created' },
        session: null,
        recorded: true,
        source: 'service',
      },
    ],
  })

export const gateItem = z
  .object({
    description: z.string().describe('What the proof must show.'),
    type: z
      .string()
      .nullable()
      .describe('The type of proof that satisfies it; null if the file names none.'),
    required: z.boolean().describe('Whether the gate stays closed without it.'),
    checked: z
      .boolean()
      .describe(
        'Whether its box in the file is ticked: by a person, or proved when the case was resolved. The gate ignores it.',
      ),
    satisfied_by: id.nullable().describe('The proof that satisfies it, if any.'),
  })
  .meta({
    id: 'ChecklistItem',
    examples: [
      {
        description: 'All tests pass',
        type: 'test-log',
        required: true,
        checked: false,
        satisfied_by: null,
      },
    ],
  })

const objectionCode = z.enum(['not_verified', ...OBJECTION_CODES]).meta({
  id: 'ObjectionCode',
  description:
    '`changed`: after it was verified. `empty`: it has no content. `not_counted`: the service has not counted its tests yet. `nothing_ran`: a report without tests. `incomplete`: a report that is cut off or contradicts its own totals. `unread_report`: a report in a format that Casefile does not read. `session_failed`: it comes from a failed session. `exit_code`: it comes from a step that did not exit with 0. `plan_violation`: its session changed files before its plan was approved. `other_type`: its content is not what its type says.',
})

const objection = z
  .object({
    id,
    type: z.string(),
    code: objectionCode,
    reason: z.string().describe('The same in words.'),
  })
  .meta({ id: 'GateObjection', description: 'A proof that does not count, and why.' })

export const gate = z
  .object({
    open: z.boolean(),
    verified: count.describe('How many proofs count.'),
    items: z.array(gateItem).describe('The checklist.'),
    missing: z.array(z.string()).describe('What is still needed, in words.'),
    objections: z.array(objection).describe('The proofs that do not count, newest last.'),
  })
  .meta({
    id: 'Gate',
    description:
      'Whether the case may be RESOLVED. A proof counts if it is verified, and either supports its claim or was accepted with a reason.',
    examples: [
      {
        open: false,
        verified: 0,
        items: [exampleOf(gateItem)],
        missing: [
          'at least one verified proof',
          'a verified proof of type test-log for "All tests pass"',
        ],
        objections: [
          {
            id: exampleOf(proofIdParam),
            type: 'diff',
            code: 'not_verified',
            reason: 'it is not verified',
          },
        ],
      },
    ],
  })

export const deleted = z
  .object({ id, deleted: z.literal(true) })
  .meta({ id: 'Deleted', examples: [{ id: ID, deleted: true }] })

export type CaseJson = JsonOf<typeof caseSchema>
export type TriageRowJson = JsonOf<typeof triageRow>
export type HistoryEntryJson = JsonOf<typeof historyEntry>
export type GateJson = JsonOf<typeof gate>
export type GateItemJson = JsonOf<typeof gateItem>
export type DeletedJson = JsonOf<typeof deleted>
