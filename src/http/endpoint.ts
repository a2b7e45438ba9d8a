import type { Hono } from 'hono'
import * as z from 'zod'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import type { ErrorCode } from '../model/app-error.ts'
import type { ServiceContext, ServiceEnv } from './context.ts'
import type { HttpDeps, Inbox } from './deps.ts'
import { notOfService, notWhilePlanning, requireOperator } from './middleware/require-operator.ts'
import { readJson } from './request-body.ts'
import type { Streamed } from './schemas/event.ts'
import { parseParams, parseQuery } from './schemas/parse-query.ts'
import type { HeaderName } from './schemas/response-headers.ts'
import type { Broadcast } from './sse/broadcast.ts'
import type { StreamRegistry } from './sse/stream-registry.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Method and path as hono writes them, such as `GET /cases/:id`. */
export type Route = `${Method} /${string}`

export const TAGS = {
  Cases: 'Work items: a problem or a request.',
  Sessions: 'Work on a case by an agent or a runbook: planned, approved, executed, recorded.',
  Comments: 'Comments of the operator on plans and diffs, and the replies of agents.',
  Conversations: 'Agents that people run in a terminal themselves, as their hooks report them.',
  Proof: 'Evidence that a case is resolved, and what is still required.',
  Memory: 'The markdown files of a case, as they are on disk.',
  Webhooks: 'URLs that events are sent to.',
  Events: 'Server-sent events for every change.',
  Providers:
    'The agents and other programs that sessions run with. Only with `casefile serve --dev`.',
  System: 'The service itself.',
} as const

/** What handlers get. */
export interface EndpointDeps extends HttpDeps {
  streams: StreamRegistry
  broadcast: Broadcast
  /** Null in a service without one: a command's own. */
  inbox: Inbox | null
  /** One lock per webhook: a change resolves the receiver's host name first, and `If-Match` must hold until then. */
  webhookLocks: KeyedMutex
  /** All endpoints, for the OpenAPI document. */
  endpoints: readonly Endpoint[]
}

/** A body that is not JSON. */
interface RawContent {
  type: string
  description: string
}

export interface ResponseSpec {
  description: string
  json?: z.ZodType
  text?: RawContent
  /** Bytes of one of several types. */
  bytes?: readonly RawContent[]
  /** For an event stream: the component for any of its events, or null if they are not described. */
  events?: Streamed | null
  headers?: readonly HeaderName[]
  /** Headers that only some of these responses have. */
  optionalHeaders?: readonly HeaderName[]
}

/** Who may send the request; the value is the name of the action in the audit log. Without one, anybody may. */
interface Permission {
  /** Denied to every process of a session. */
  operatorOnly?: string
  /** Denied to the processes of a session that plans. */
  notWhilePlanning?: string
  /** Denied to the processes of a session that the service started, not to agents that people run themselves. */
  notOfService?: string
  /** Whether `operatorOnly` applies to this request; by default it applies to all. */
  operatorOnlyIf?: (c: ServiceContext) => boolean
}

/** A request and its responses, as far as they are not the examples of the schemas. */
export interface ExampleSpec {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
  /** By status: JSON, or text. */
  responses?: Readonly<Partial<Record<number, unknown>>>
}

type Shape = Readonly<Record<string, z.ZodType>>
type Values<S extends Shape> = z.output<z.ZodObject<{ -readonly [K in keyof S]: S[K] }>>

/** An endpoint without its handler, for the OpenAPI document. */
export interface EndpointSpec extends Permission {
  route: Route
  /** The `operationId`: the name of the function in a generated client. */
  id: string
  tag: keyof typeof TAGS
  summary: string
  description: string
  params?: Shape
  /** If given, any other query parameter is an error. */
  query?: Shape
  headers?: Shape
  /** A JSON object. */
  body?: z.ZodType
  maxBodyBytes?: number
  isBodyOptional?: boolean
  /** The handler reads the body itself, and answers to a wrong one too. `body` is then undefined. */
  takesAnyBody?: boolean
  /** For a body of any bytes instead of JSON. */
  rawBody?: RawContent
  /**
   * Bodies that the handler reads itself. `body` is then undefined; `query` is only for such a body, else `{}`.
   */
  otherBodies?: readonly RawContent[]
  /** Whether a request has such a body. */
  hasOtherBody?: (c: ServiceContext) => boolean
  responses: Readonly<Partial<Record<number, ResponseSpec>>>
  /** Whether it supports `If-Match` and `If-None-Match`. */
  isConditional?: boolean
  /** In addition to those that follow from the rest. */
  errors?: readonly ErrorCode[]
  example?: ExampleSpec
  /** Only with `casefile serve --dev`. */
  isDev?: boolean
  /** For a literal in the place of another path's parameter, which hono's fast router does not support: that path. It has no checks. */
  mountAt?: `/${string}`
}

export interface EndpointRequest<P extends Shape, Q extends Shape, B extends z.ZodType> {
  c: ServiceContext
  service: EndpointDeps
  params: Values<P>
  query: Values<Q>
  body: z.output<B>
}

export interface Endpoint extends EndpointSpec {
  handle(request: EndpointRequest<Shape, Shape, z.ZodType>): Response | Promise<Response>
}

/** One endpoint: its schemas, its description and its handler. Parameters and body are checked before the handler runs. */
export function endpoint<
  P extends Shape = Record<never, never>,
  Q extends Shape = Record<never, never>,
  B extends z.ZodType = z.ZodType<undefined>,
>(
  spec: EndpointSpec & {
    params?: P
    query?: Q
    body?: B
    handle(request: EndpointRequest<P, Q, B>): Response | Promise<Response>
  },
): Endpoint {
  return spec as unknown as Endpoint
}

/** Adds an endpoint to the app. */
export function mount(app: Hono<ServiceEnv>, service: EndpointDeps, each: Endpoint): void {
  const [method, path] = each.route.split(' ') as [Method, string]
  const params = each.params && z.object(each.params)
  const { query, body, maxBodyBytes: maxBytes } = each
  const options = maxBytes === undefined ? {} : { maxBytes }
  const handler = async (c: ServiceContext) => {
    const isOther = each.hasOtherBody?.(c)
    return each.handle({
      c,
      service,
      params: params ? parseParams(params, c) : {},
      query: query && isOther !== false ? parseQuery(query, c.req.queries()) : {},
      body: body && !isOther && !each.takesAnyBody ? await readJson(c, body, options) : undefined,
    })
  }
  const checks = [
    ...(each.operatorOnly
      ? [requireOperator(service, each.operatorOnly, each.operatorOnlyIf)]
      : []),
    ...(each.notOfService ? [notOfService(service, each.notOfService)] : []),
    ...(each.notWhilePlanning ? [notWhilePlanning(service, each.notWhilePlanning)] : []),
  ]
  const { mountAt } = each
  if (!mountAt) {
    app.on(method, [path], ...checks, handler)
    return
  }
  const literal = path.slice(path.lastIndexOf('/'))
  app.on(method, [mountAt], (c, next) => (c.req.path.endsWith(literal) ? handler(c) : next()))
}

/** The errors of any change to the files of a case. */
export const FILE_ERRORS = ['unreadable_file', 'changed_meanwhile', 'git_busy'] as const

/** The errors of any list. `too_large`: over 64 MiB in one response. */
export const LIST_ERRORS = ['bad_request', 'too_large'] as const

/** One resource with its ETag. */
export function ok(json: z.ZodType, description: string): Record<200, ResponseSpec> {
  return { 200: { description, json, headers: ['ETag'] } }
}

/** A new resource, with its path in `Location`. */
export function created(json: z.ZodType, description: string): Record<201, ResponseSpec> {
  return { 201: { description, json, headers: ['Location'] } }
}

/** A list, or a page of it. */
export function listOf(item: z.ZodType, description: string): Record<200, ResponseSpec> {
  const optionalHeaders = ['ETag', 'Link', 'X-Total-Count'] as const
  return { 200: { description, json: z.array(item), optionalHeaders } }
}
