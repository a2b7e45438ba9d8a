import type * as z from 'zod'
import { AppError } from '../../model/app-error.ts'
import { DELIVERY_STATES, type Delivery } from '../../model/delivery.ts'
import { ALL_EVENTS, type Webhook } from '../../model/webhook.ts'
import { newSecret } from '../../webhooks/message.ts'
import {
  created,
  type Endpoint,
  type EndpointDeps,
  endpoint,
  LIST_ERRORS,
  listOf,
  ok,
  type Route,
} from '../endpoint.ts'
import { etagOf, jsonWithETag, requireMatch } from '../etag.ts'
import { answerJson, jsonBody } from '../json-body.ts'
import {
  type ListSource,
  newestFirst,
  paginate,
  paginateSource,
  type SortKey,
} from '../pagination.ts'
import { type DeletedJson, deleted } from '../schemas/case.ts'
import { caseIdParam, deliveryIdParam, webhookIdParam } from '../schemas/params.ts'
import { exampleOf } from '../schemas/primitives.ts'
import { oneOf, paging } from '../schemas/query.ts'
import {
  changeIn,
  delivery,
  deliveryState,
  newWebhookSchema,
  secretIn,
  tested,
  type WebhookWithSecretJson,
  webhook,
  webhookUpdateSchema,
  webhookWithSecret,
} from '../schemas/webhook.ts'
import { serializeDelivery, serializeTest, serializeWebhook } from '../webhook-serializers.ts'

const ofOne = { id: webhookIdParam }
const state = oneOf(deliveryState).describe('Only deliveries in one of these states.')

const QUEUED = {
  ...exampleOf(delivery),
  state: 'retrying',
  next_attempt_at: '2026-11-21T09:05:00.000Z',
}

type Params = Readonly<Record<string, string>>

/** List, create and delete, for the webhooks of the workspace and for those of a case. */
interface Scope {
  list: `/${string}`
  one: `/${string}`
  /** For the summaries. */
  noun: string
  /** For the operation ids. */
  name: string
  listed: string
  ofList: Record<string, z.ZodType>
  ofOne: Record<string, z.ZodType>
  /** The webhook of the examples. */
  shown: z.infer<typeof webhook>
  /** The id of the case; null for webhooks of the workspace. */
  caseOf(service: EndpointDeps, params: Params): Promise<string | null>
  /** Throws `not_found`, also for a webhook of another case. */
  webhookOf(service: EndpointDeps, params: Params): Promise<Webhook>
}

const readCase = async ({ store }: EndpointDeps, params: Params) =>
  (await store.read(params.id!)).case.id

const SCOPES: readonly Scope[] = [
  {
    list: '/webhooks',
    one: '/webhooks/:id',
    noun: 'a global webhook',
    name: 'Webhook',
    listed:
      'Lists the webhooks that get the events of all cases. Webhooks of a case have their own list.',
    ofList: {},
    ofOne: { id: webhookIdParam },
    shown: exampleOf(webhook),
    caseOf: async () => null,
    webhookOf: async ({ webhooks }, params) => webhooks.get(params.id!),
  },
  {
    list: '/cases/:id/webhooks',
    one: '/cases/:id/webhooks/:webhook_id',
    noun: 'a webhook of a case',
    name: 'CaseWebhook',
    listed: 'Lists the webhooks of this case only. Global webhooks get its events too.',
    ofList: { id: caseIdParam },
    ofOne: { id: caseIdParam, webhook_id: webhookIdParam },
    shown: { ...exampleOf(webhook), case_id: exampleOf(caseIdParam) },
    caseOf: readCase,
    async webhookOf(service, params) {
      const id = await readCase(service, params)
      const found = service.webhooks.get(params.webhook_id!)
      if (found.case_id === id) return found
      throw new AppError('not_found', `Case ${id} has no webhook ${found.id}.`)
    },
  },
]

const scopedEndpoints: readonly Endpoint[] = SCOPES.flatMap((scope) => {
  const { list, one, noun, name, ofList, ofOne, shown, caseOf, webhookOf } = scope
  const route = (method: string, path: string) => `${method} ${path}` as Route
  /** An entry of `notify` in casefile.md is changed only there; none is of a case. */
  const ofNotify = ofOne.webhook_id ? [] : (['wrong_state'] as const)
  return [
    endpoint({
      route: route('GET', list),
      id: `list${name}s`,
      tag: 'Webhooks',
      summary: scope.ofList.id ? 'List the webhooks of a case' : 'List global webhooks',
      description: scope.listed,
      params: ofList,
      query: paging,
      responses: listOf(webhook, 'Webhooks, newest first.'),
      example: { responses: { 200: [shown] } },
      async handle({ c, service, params, query }) {
        const ofCase = await caseOf(service, params as Params)
        await service.webhooks.syncNotify()
        const found = service.webhooks.list(ofCase).map((each) => show(service, each))
        return paginate({ c, query }, found.sort(newestFirst))
      },
    }),

    endpoint({
      route: route('POST', list),
      id: `create${name}`,
      tag: 'Webhooks',
      summary: `Register ${noun}`,
      description:
        'Without a secret, the service generates one and returns it in this response only.',
      params: ofList,
      body: newWebhookSchema,
      responses: created(webhookWithSecret, 'The new webhook.'),
      errors: ['wrong_state'],
      example: { responses: { 201: { ...exampleOf(webhookWithSecret), ...shown } } },
      notWhilePlanning: 'add webhook',
      async handle({ c, service, params, body }) {
        const { webhooks } = service
        const { url, events, active = true, ...rest } = body
        const secret = secretIn(rest) ?? null
        const case_id = await caseOf(service, params as Params)
        const wanted = { case_id, url, events: events ?? [ALL_EVENTS], secret, active }
        const added = await webhooks.add(wanted)
        try {
          await caseOf(service, params as Params)
        } catch (error) {
          await webhooks.remove(added.id) // the case was deleted in the meantime
          throw error
        }
        const json: WebhookWithSecretJson = {
          ...show(service, added),
          ...(secret === null ? { secret: added.secret } : {}),
        }
        return answerJson(c, json, 201, { location: `/webhooks/${added.id}` })
      },
    }),

    endpoint({
      route: route('DELETE', one),
      id: `delete${name}`,
      tag: 'Webhooks',
      summary: `Delete ${noun}`,
      description: 'From now on, the service sends nothing to it, and retries nothing.',
      params: ofOne,
      isConditional: true,
      responses: { 200: { description: 'Deleted.', json: deleted } },
      errors: ofNotify,
      example: { responses: { 200: { id: shown.id, deleted: true } } },
      notWhilePlanning: 'delete webhook',
      async handle({ c, service, params }) {
        const { id } = await webhookOf(service, params as Params)
        return service.webhookLocks.run(id, async () => {
          requireMatch(c, etagNow(service, id))
          await service.webhooks.remove(id)
          return answerJson<DeletedJson>(c, { id, deleted: true })
        })
      },
    }),
  ]
})

/** For webhooks of the workspace and of cases alike. */
const ownEndpoints: readonly Endpoint[] = [
  endpoint({
    route: 'GET /webhooks/:id',
    id: 'getWebhook',
    tag: 'Webhooks',
    summary: 'Get a webhook',
    description: 'Returns everything but its secret: URL, events, and how its deliveries went.',
    params: ofOne,
    responses: ok(webhook, 'The webhook.'),
    handle: async ({ c, service, params }) =>
      jsonWithETag(c, show(service, service.webhooks.get(params.id))),
  }),

  endpoint({
    route: 'PATCH /webhooks/:id',
    id: 'updateWebhook',
    tag: 'Webhooks',
    summary: 'Update, pause or resume a webhook',
    description:
      'Requires at least one field. With a null secret, the service generates a new one.',
    params: ofOne,
    body: webhookUpdateSchema,
    isConditional: true,
    responses: {
      200: { description: 'The updated webhook.', json: webhookWithSecret, headers: ['ETag'] },
    },
    errors: ['wrong_state'],
    notWhilePlanning: 'change webhook',
    async handle({ c, service, params, body }) {
      const change = changeIn(body, newSecret)
      const { id } = service.webhooks.get(params.id)
      return service.webhookLocks.run(id, async () => {
        requireMatch(c, etagNow(service, id))
        const changed = await service.webhooks.change(id, change)
        const json: WebhookWithSecretJson = {
          ...show(service, changed),
          ...(body.secret === null ? { secret: changed.secret } : {}),
        }
        return answerJson(c, json, 200, { etag: etagNow(service, id) })
      })
    },
  }),

  endpoint({
    route: 'POST /webhooks/:id/test',
    id: 'testWebhook',
    tag: 'Webhooks',
    summary: 'Send a ping to a webhook',
    description:
      'Responds when the receiver has responded, or after 15 s. A ping is not retried, and not listed with the deliveries.',
    params: ofOne,
    responses: { 200: { description: 'The delivery result.', json: tested } },
    notWhilePlanning: 'test webhook',
    async handle({ c, service, params }) {
      const found = service.webhooks.get(params.id)
      const { id, attempt } = await service.webhooks.test(found.id)
      return answerJson(c, serializeTest(id, attempt))
    },
  }),

  endpoint({
    route: 'GET /webhooks/:id/deliveries',
    id: 'listWebhookDeliveries',
    tag: 'Webhooks',
    summary: 'List the deliveries of a webhook',
    description:
      'Returns all deliveries that will be retried, the newest 1000 that succeeded, and the newest 1000 that were given up. Events that have not been sent yet are not included.',
    params: ofOne,
    query: { state, ...paging },
    responses: listOf(delivery, 'Deliveries, newest event first.'),
    errors: LIST_ERRORS,
    async handle({ c, service, params, query }) {
      const { webhooks } = service
      const found = service.webhooks.get(params.id)
      const states = query.state
        ? DELIVERY_STATES.filter((each) => query.state!.includes(each))
        : null
      const source: ListSource<ListedDelivery> = {
        count: () => webhooks.countDeliveries(found.id, states),
        async after(last, limit) {
          const before = last && Number(last.created_at)
          return (await webhooks.deliveries(found.id, { states, before, limit })).map(listed)
        },
      }
      const serialize = async ({ delivery }: ListedDelivery) => serializeDelivery(delivery, found)
      return paginateSource({ c, query }, source, { serialize })
    },
  }),

  endpoint({
    route: 'POST /webhooks/:id/deliveries/:did/redeliver',
    id: 'redeliverWebhook',
    tag: 'Webhooks',
    summary: 'Resend a delivery of a webhook',
    description:
      'Sends it now, with the same `webhook-id`, by which the receiver recognizes it. Fails if the webhook is not active.',
    params: { ...ofOne, did: deliveryIdParam },
    responses: { 202: { description: 'Queued for delivery.', json: delivery } },
    errors: ['wrong_state'],
    example: { responses: { 202: QUEUED } },
    notWhilePlanning: 'redeliver',
    async handle({ c, service, params }) {
      const found = service.webhooks.get(params.id)
      const sent = await service.webhooks.redeliver(found.id, params.did)
      return answerJson(c, serializeDelivery(sent, found), 202)
    },
  }),
]

export const webhookEndpoints = [...scopedEndpoints, ...ownEndpoints]

function show({ webhooks }: EndpointDeps, each: Webhook) {
  return serializeWebhook(webhooks, each)
}

function etagNow(service: EndpointDeps, id: string): string {
  return etagOf(jsonBody(show(service, service.webhooks.get(id))))
}

interface ListedDelivery extends SortKey {
  delivery: Delivery
}

/** In the order of the event log. Times are no order: a change found after a restart has the time of its file. */
function listed(delivery: Delivery): ListedDelivery {
  return {
    id: delivery.id,
    created_at: String(delivery.event).padStart(16, '0'),
    delivery,
  }
}
