import * as z from 'zod'
import { ATTENTION_KINDS } from '../../model/attention.ts'
import { FILTERED } from '../../model/case-fields.ts'
import {
  answerSchema,
  caseFieldsSchema,
  checklistItemSchema,
  newCaseSchema,
  stateSchema,
} from '../schemas/case.ts'
import {
  caseSchema,
  deleted,
  gate,
  gateItem,
  historyEntry,
  triageRow,
} from '../schemas/case-responses.ts'
import { caseState } from '../schemas/primitives.ts'
import { ANY_FIELD, FILE_REFUSALS, made, type Operations, one } from './operation.ts'
import { LIST_REFUSALS, listOf, oneOf, paging } from './paging.ts'

/** By the values that lists show. */
export const caseFilters = Object.fromEntries(
  FILTERED.map(({ name, filter, known }) => {
    const value = name === 'state' ? caseState : z.string()
    const words = known ? ` Known: ${known.join(', ')}.` : ''
    return [
      filter!,
      oneOf(value).describe(`Only cases with one of these values of \`${name}\`.${words}`),
    ]
  }),
)

const filters = {
  ...caseFilters,
  q: z
    .string()
    .optional()
    .describe('Words that stand in title or description, or with which the id begins.'),
}

export const caseOperations: Operations = {
  'GET /cases': {
    ...{ id: 'listCases', tag: 'Cases', summary: 'All cases, or those that fit' },
    description:
      'All filters that are given must fit. The list is whole without `limit`; with it, `Link` leads to the next page.',
    query: { ...filters, ...paging },
    answers: listOf(caseSchema, 'Cases, the newest first.'),
    refusals: [...LIST_REFUSALS, 'unknown_state'],
  },
  'GET /triage': {
    ...{ id: 'triage', tag: 'Cases', summary: 'The cases by what they need from the operator' },
    description:
      'What needs a decision comes first; what needs nothing is there too, unless `needs` says otherwise. The filters are those of the list of cases.',
    query: {
      needs: oneOf(z.enum([...ATTENTION_KINDS, 'any'])).describe('`any` is all but `running`.'),
      named: z
        .string()
        .optional()
        .describe(
          'The cases with exactly this title; without one, those whose id begins with it, or whose title contains it. Case-insensitive.',
        ),
      ...filters,
      ...paging,
    },
    answers: listOf(triageRow, 'The cases, the most urgent first.'),
    refusals: ['bad_request', 'unknown_state'],
  },
  'POST /cases': {
    ...{ id: 'createCase', tag: 'Cases', summary: 'A new case, which is OPEN' },
    description:
      'It takes a title, and any other fields that are known already. Null is the same as leaving a field out.',
    body: newCaseSchema,
    answers: made(caseSchema, 'The case.'),
    refusals: FILE_REFUSALS,
  },
  'GET /cases/:id': {
    ...{ id: 'getCase', tag: 'Cases', summary: 'A case' },
    description:
      'Its fields, and the problems of its files. Sessions, proof and memory files have paths of their own.',
    answers: one(caseSchema, 'The case.'),
  },
  'PUT /cases/:id': {
    ...{ id: 'updateCase', tag: 'Cases', summary: 'Changes fields of a case' },
    description: 'At least one field. Null clears all but the title; a cleared type is `bug`.',
    body: caseFieldsSchema,
    bodyRules: ANY_FIELD,
    isConditional: true,
    answers: one(caseSchema, 'The case as it is now.'),
    refusals: FILE_REFUSALS,
  },
  'PUT /cases/:id/state': {
    ...{ id: 'setCaseState', tag: 'Cases', summary: 'Sets the state of a case' },
    description: 'From any state to any other; only RESOLVED has to pass the proof gate.',
    body: stateSchema,
    isConditional: true,
    isOperators: true,
    answers: one(caseSchema, 'The case as it is now.'),
    refusals: [...FILE_REFUSALS, 'unknown_state', 'proof_gate'],
  },
  'POST /cases/:id/answer': {
    ...{ id: 'answerQuestion', tag: 'Cases', summary: 'Answers the question of a case' },
    description:
      'Of a case that is NEEDS_USER_INPUT: its reason is the question. The case goes back to the state before; question and answer stay in its history.',
    body: answerSchema,
    isOperators: true,
    answers: one(caseSchema, 'The case as it is now.'),
    refusals: [...FILE_REFUSALS, 'wrong_state'],
  },
  'GET /cases/:id/history': {
    ...{ id: 'getHistory', tag: 'Cases', summary: 'What happened to a case' },
    description:
      'The entries of its `history.md`, oldest first: who did what, when and why. For a case that is older than this file, entries that its other files tell come before them.',
    answers: one(z.array(historyEntry), 'The entries.'),
  },
  'GET /cases/:id/gate': {
    ...{ id: 'getGate', tag: 'Proof', summary: 'Whether a case may be RESOLVED' },
    description:
      'It is open when there is a verified proof, and for each required item of the checklist a verified proof of its type. `missing` says what is still needed.',
    answers: one(gate, 'The gate.'),
  },
  'DELETE /cases/:id': {
    ...{ id: 'deleteCase', tag: 'Cases', summary: 'Deletes a case with all its files, for good' },
    description:
      'Its sessions, proof, memory files and webhooks go with it. It is refused while a session of it plans or executes.',
    isConditional: true,
    isOperators: true,
    answers: { 200: { description: 'It is gone.', json: deleted } },
    refusals: [...FILE_REFUSALS, 'session_running'],
  },
  'GET /cases/:id/proof/checklist': {
    ...{ id: 'getChecklist', tag: 'Proof', summary: 'The proof that a case asks for' },
    description:
      'Each item with its type, whether it is required, and the verified proof that satisfies it.',
    answers: one(z.array(gateItem), 'The items, as in the gate.'),
  },
  'POST /cases/:id/proof/checklist': {
    ...{ id: 'addChecklistItem', tag: 'Proof', summary: 'Adds an item to the checklist' },
    description:
      'A required item keeps the gate shut until a proof of its type is verified. An item that is there already is refused.',
    body: checklistItemSchema,
    answers: made(gateItem, 'The item.'),
    refusals: [...FILE_REFUSALS, 'already_exists'],
  },
}
