import * as z from 'zod'
import {
  abandonSchema,
  approveSchema,
  newSessionSchema,
  planSchema,
  reviseSchema,
} from '../schemas/case.ts'
import { artifact, revision, session } from '../schemas/session.ts'
import { FILE_REFUSALS, made, type Operations, one } from './operation.ts'
import { LIST_REFUSALS, listOf, paging } from './paging.ts'

const now = one(session, 'The session as it is now.')
const ENDED = ['session_ended', 'wrong_state'] as const
const TEXT = 'text/plain; charset=utf-8'

/** Where a client of a stream has come to; a browser sends the header by itself. */
export const resuming = {
  query: {
    after: z.string().optional().describe('The id behind which to go on, as `Last-Event-ID`.'),
  },
  headers: { 'Last-Event-ID': z.string().optional().describe('The last id that was read.') },
}

export const sessionOperations: Operations = {
  'GET /cases/:id/sessions': {
    ...{ id: 'listSessions', tag: 'Sessions', summary: 'The sessions of a case' },
    description:
      'Each whole, with plan and output. The list is whole without `limit`; with it, `Link` leads to the next page.',
    query: paging,
    answers: listOf(session, 'The sessions, the newest first.'),
    refusals: LIST_REFUSALS,
  },
  'POST /cases/:id/sessions': {
    ...{ id: 'createSession', tag: 'Sessions', summary: 'A new session, which begins to plan' },
    description:
      'It is answered in state `created` and plans by itself; then it waits, in state `plan_ready`. Nothing is executed before it is approved. Either `type` or `again` is needed: with `again` it plans again after a session that failed: type and provider are those of that session if not given, and the failure goes into the note.',
    body: newSessionSchema,
    isOperators: true,
    answers: made(session, 'The session; its plan will wait for approval.'),
    refusals: [
      ...FILE_REFUSALS,
      'unknown_provider',
      'provider_unavailable',
      'untrusted_provider',
      'untrusted_workdir',
      'untrusted_agent_files',
      'wrong_state',
    ],
  },
  'GET /cases/:id/sessions/:sid': {
    ...{ id: 'getSession', tag: 'Sessions', summary: 'A session' },
    description:
      'Its state, hypothesis, plan, output, diff and test counts, and the files that could be attached as proof.',
    answers: one(session, 'The session.'),
  },
  'PUT /cases/:id/sessions/:sid/plan': {
    ...{ id: 'editPlan', tag: 'Sessions', summary: 'Your words in place of the plan' },
    description:
      'Only while the plan waits for approval. A plan with a step that is not understood is refused; the former plan is kept in the list of plans.',
    body: planSchema,
    isConditional: true,
    isOperators: true,
    answers: now,
    refusals: [...FILE_REFUSALS, ...ENDED, 'invalid_plan'],
  },
  'POST /cases/:id/sessions/:sid/approve': {
    ...{ id: 'approve', tag: 'Sessions', summary: 'Approves the plan, which is executed then' },
    description: 'With `plan_sha256` nothing runs but the plan that has this hash.',
    body: approveSchema,
    isBodyOptional: true,
    isOperators: true,
    answers: now,
    refusals: [
      ...[...FILE_REFUSALS, ...ENDED, 'bad_request', 'already_active', 'plan_changed'],
      ...['folder_busy', 'invalid_plan', 'unknown_provider', 'untrusted_provider'],
      'untrusted_workdir',
      'untrusted_agent_files',
    ] as const,
  },
  'POST /cases/:id/sessions/:sid/revise': {
    ...{ id: 'revise', tag: 'Sessions', summary: 'Has the session plan again' },
    description:
      'The note says what is wanted differently. The new plan needs an approval of its own.',
    body: reviseSchema,
    isOperators: true,
    answers: now,
    refusals: [
      ...[...FILE_REFUSALS, ...ENDED, 'already_active', 'unknown_provider'],
      ...['untrusted_provider', 'untrusted_workdir', 'untrusted_agent_files'],
    ] as const,
  },
  'POST /cases/:id/sessions/:sid/abandon': {
    ...{ id: 'abandon', tag: 'Sessions', summary: 'Ends the session, and what runs for it' },
    description:
      'Answers when all processes that it started are gone. A session that has ended already is refused.',
    body: abandonSchema,
    isBodyOptional: true,
    isOperators: true,
    answers: now,
    refusals: [...FILE_REFUSALS, ...ENDED],
  },
  'GET /cases/:id/sessions/:sid/stream': {
    ...{ id: 'streamSession', tag: 'Sessions', summary: 'The events of a session, as they come' },
    description:
      'Server-sent events: the trail from its beginning, or behind the id that is named, then what happens and what steps print. It closes when the session has completed or ended.',
    ...resuming,
    answers: {
      200: {
        description: 'What has happened, then what happens, until the session is over.',
        events: 'SessionEvent',
      },
      204: { description: 'Nothing more will come.' },
    },
    refusals: ['bad_request'],
  },
  'GET /cases/:id/sessions/:sid/plans': {
    ...{ id: 'listPlans', tag: 'Sessions', summary: 'The plans that a session had' },
    description:
      'The oldest first, each with who wrote it and what was asked for before. A text may be null where this machine does not know it.',
    answers: one(z.array(revision), 'The plans, the oldest first.'),
  },
  'GET /cases/:id/sessions/:sid/artifacts': {
    ...{ id: 'listArtifacts', tag: 'Sessions', summary: 'What the steps of a session left' },
    description:
      'Logs and reports that lie on this machine, also those that are being written. A candidate can be attached as proof.',
    answers: one(z.array(artifact), 'The artifacts that are on this machine.'),
    refusals: ['unreadable_file'],
  },
  'GET /cases/:id/sessions/:sid/artifacts/:name': {
    ...{ id: 'getArtifact', tag: 'Sessions', summary: 'The bytes of an artifact' },
    description:
      'As plain text, whatever it is. A growing log is read by asking again with `Range` from where the last answer ended.',
    headers: { Range: z.string().optional().describe('A single one, such as `bytes=-4096`.') },
    answers: {
      200: {
        description: 'All of it. One over 10 MiB has no ETag.',
        text: { type: TEXT, description: 'The bytes, whatever they are.' },
        headers: ['Accept-Ranges', 'Content-Security-Policy'],
        sometimes: ['ETag'],
      },
      206: {
        description: 'The part that was asked for, 10 MiB at most.',
        text: { type: TEXT, description: 'The bytes, whatever they are.' },
        headers: ['Accept-Ranges', 'Content-Range', 'Content-Security-Policy'],
      },
    },
    refusals: ['unreadable_file', 'range_not_satisfiable'],
  },
}
