import * as z from 'zod'
import { sessionOf } from '../../model/case-contents.ts'
import { endpoint, FILE_ERRORS } from '../endpoint.ts'
import { answerJson } from '../json-body.ts'
import {
  adoptionSchema,
  announcedSchema,
  conversation,
  currentCaseSchema,
  proposalSchema,
} from '../schemas/conversation.ts'
import { caseIdParam, conversationIdParam } from '../schemas/params.ts'
import { session } from '../schemas/session.ts'
import { serializeConversation, serializeSession } from '../serializers.ts'
import { shownFolder } from '../shown-folder.ts'

/** Conversations of people with agents that they run themselves. */
export const conversationEndpoints = [
  endpoint({
    route: 'GET /conversations',
    id: 'listConversations',
    tag: 'Conversations',
    summary: 'List the conversations with agents in terminals',
    description:
      'Returns the conversations whose hooks were heard, or that `casefile agent run` began, newest first. One without `case_id` is bound to no case: nothing of it is recorded or denied.',
    responses: {
      200: { description: 'The conversations.', json: z.array(conversation) },
    },
    handle: ({ c, service }) =>
      answerJson(
        c,
        service.conversations.list().map((each) => serializeConversation(service, each)),
      ),
  }),

  endpoint({
    route: 'POST /conversations',
    id: 'announceConversation',
    tag: 'Conversations',
    summary: 'Announce an agent that is about to start',
    description:
      'For `casefile agent run`: a conversation whose hooks are never heard is then in the list, as not gated.',
    body: announcedSchema,
    responses: { 201: { description: 'The conversation.', json: conversation } },
    errors: ['bad_request'],
    operatorOnly: 'announce conversation',
    async handle({ c, service, body }) {
      return answerJson(
        c,
        serializeConversation(service, await service.conversations.expect(body)),
        201,
      )
    },
  }),

  endpoint({
    route: 'POST /conversations/:id/adopt',
    id: 'adoptConversation',
    tag: 'Conversations',
    summary: 'Bind a conversation to a case',
    description:
      'From its next prompt or call on, it is recorded as a session of the case, and its agent may change nothing before a plan is approved.',
    params: { id: conversationIdParam },
    body: adoptionSchema,
    responses: { 200: { description: 'The conversation.', json: conversation } },
    errors: ['wrong_state'],
    operatorOnly: 'adopt conversation',
    async handle({ c, service, params: { id }, body }) {
      return answerJson(
        c,
        serializeConversation(service, await service.conversations.adopt(id, body.case_id)),
      )
    },
  }),

  endpoint({
    route: 'POST /cases/:id/proposed-plans',
    id: 'proposePlan',
    tag: 'Conversations',
    summary: 'Hand in a plan for a case',
    description:
      'For an agent that a person runs themselves, and whose hooks present no plan: `casefile agent mcp` sends it. It becomes the plan of the session that records the conversation, or of a new one, and waits for approval. Denied to the agents that the service started.',
    params: { id: caseIdParam },
    body: proposalSchema,
    responses: {
      200: { description: 'The session, whose plan waits for approval.', json: session },
    },
    errors: [...FILE_ERRORS, 'already_active', 'bad_request', 'wrong_state'],
    notOfService: 'propose plan',
    async handle({ c, service, params: { id }, body: { plan, hypothesis, ...agent } }) {
      const proposed = await service.conversations.propose(
        id,
        { plan, hypothesis },
        { ...agent, case_id: id },
      )
      const contents = await service.store.read(id)
      const found = sessionOf(contents, proposed.id)
      return answerJson(c, await serializeSession(service, contents, found))
    },
  }),

  endpoint({
    route: 'GET /current-case',
    id: 'getCurrentCase',
    tag: 'Conversations',
    summary: 'Get the current case of a folder',
    description:
      'Conversations in the folder are bound to this case, if neither the environment of the agent nor the name of the branch names another one.',
    query: { folder: currentCaseSchema.shape.folder },
    responses: { 200: { description: 'The folder and its case.', json: currentCaseSchema } },
    async handle({ c, service, query: { folder } }) {
      const current = await service.conversations.currentCase(folder)
      return answerJson(c, { ...current, folder: shownFolder(service.layout.root, current.folder) })
    },
  }),

  endpoint({
    route: 'PUT /current-case',
    id: 'setCurrentCase',
    tag: 'Conversations',
    summary: 'Make a case current for a folder',
    description: 'With `case_id: null`, no case is current there.',
    body: currentCaseSchema,
    responses: { 200: { description: 'The folder and its case.', json: currentCaseSchema } },
    errors: ['bad_request', 'not_found'],
    operatorOnly: 'set current case',
    async handle({ c, service, body: { folder, case_id } }) {
      const current = await service.conversations.setCurrentCase(folder, case_id)
      return answerJson(c, { ...current, folder: shownFolder(service.layout.root, current.folder) })
    },
  }),
]
