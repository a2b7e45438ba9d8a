import * as z from 'zod'
import { deleted } from '../schemas/case-responses.ts'
import { newWebhookSchema, webhookChangeSchema } from '../schemas/webhook.ts'
import {
  delivery,
  tested,
  webhook,
  webhookWithSecret,
  wholeDelivery,
} from '../schemas/webhook-responses.ts'
import { ANY_FIELD, made, type Operation, type Operations, one } from './operation.ts'
import { LIST_REFUSALS, listOf, oneOf, paging } from './paging.ts'

const state = oneOf(z.enum(['delivered', 'retrying', 'dead'])).describe('One of which must fit.')

/** Of a list of webhooks, and of one in it. */
const OF_LIST: Readonly<Record<'GET' | 'POST', Operation>> = {
  GET: {
    ...{ id: 'list#s', tag: 'Webhooks', summary: 'The webhooks #' },
    description:
      'The workspace lists the global ones alone; those of a case are listed at the case.',
    query: paging,
    answers: listOf(webhook, 'The webhooks, the newest first.'),
    refusals: ['bad_request'],
  },
  POST: {
    ...{ id: 'create#', tag: 'Webhooks', summary: 'Registers an address #' },
    description: 'Without a secret one is generated, and shown in this answer alone.',
    body: newWebhookSchema,
    answers: made(webhookWithSecret, 'The webhook.'),
    refusals: ['wrong_state'],
  },
}

const OF_ONE: Readonly<Record<string, Operation>> = {
  'GET ': {
    ...{ id: 'get#', tag: 'Webhooks', summary: 'A webhook #' },
    description:
      'Its address, its events, how many deliveries wait or are given up, and why it was disabled if it was. The secret is not shown.',
    answers: one(webhook, 'The webhook.'),
  },
  'PATCH ': {
    ...{ id: 'update#', tag: 'Webhooks', summary: 'Changes, pauses or resumes a webhook #' },
    description: 'At least one field. A null secret has another one generated.',
    body: webhookChangeSchema,
    bodyRules: ANY_FIELD,
    isConditional: true,
    answers: {
      200: { description: 'It as it is now.', json: webhookWithSecret, headers: ['ETag'] },
    },
  },
  'DELETE ': {
    ...{ id: 'delete#', tag: 'Webhooks', summary: 'Ends a webhook #' },
    description: 'Nothing more is sent, nor tried again.',
    isConditional: true,
    answers: { 200: { description: 'It is gone.', json: deleted } },
  },
  'POST /test': {
    ...{ id: 'test#', tag: 'Webhooks', summary: 'Sends a ping to a webhook #, and tells of it' },
    description:
      'Answers when the receiver has answered, after 15 s at most. It is not tried again, and is in no list of deliveries.',
    answers: { 200: { description: 'What came of it.', json: tested } },
  },
  'GET /deliveries': {
    ...{ id: 'list#Deliveries', tag: 'Webhooks', summary: 'What was sent to a webhook #' },
    description:
      'What waits for another try, and the newest 1000 each of what arrived and of what was given up. An event that was not tried yet is not in it.',
    query: { state, ...paging },
    answers: listOf(delivery, 'The deliveries, the newest event first.'),
    refusals: LIST_REFUSALS,
  },
  'GET /deliveries/:did': {
    ...{ id: 'get#Delivery', tag: 'Webhooks', summary: 'A delivery to a webhook #' },
    description: 'With every attempt, and the event as it was sent.',
    answers: one(wholeDelivery, 'The delivery, with the event.'),
  },
  'POST /deliveries/:did/redeliver': {
    ...{ id: 'redeliver#', tag: 'Webhooks', summary: 'Sends a delivery to a webhook # once more' },
    description:
      'At once, with the same `webhook-id`, so that the receiver can tell it from a new event. It is refused while the webhook is not active.',
    answers: { 202: { description: 'It is sent again.', json: wholeDelivery } },
    refusals: ['wrong_state'],
  },
}

interface Scope {
  list: `/${string}`
  one: `/${string}`
  name: string
  of: string
}

function operationsOf(scope: Scope): Operations {
  const named = (operation: Operation): Operation => ({
    ...operation,
    id: operation.id.replace('#', scope.name),
    summary: operation.summary.replace('#', scope.of),
  })
  const ofOne = Object.entries(OF_ONE).map(([key, operation]) => {
    const [method, rest] = key.split(' ')
    return [`${method} ${scope.one}${rest}`, named(operation)]
  })
  return {
    ...{ [`GET ${scope.list}`]: named(OF_LIST.GET), [`POST ${scope.list}`]: named(OF_LIST.POST) },
    ...Object.fromEntries(ofOne),
  }
}

export const webhookOperations: Operations = {
  ...operationsOf({
    ...{ list: '/webhooks', one: '/webhooks/:id', name: 'Webhook', of: 'of the workspace' },
  }),
  ...operationsOf({
    ...{ list: '/cases/:id/webhooks', one: '/cases/:id/webhooks/:webhook_id' },
    ...{ name: 'CaseWebhook', of: 'of a case' },
  }),
}
