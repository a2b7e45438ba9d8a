import type * as z from 'zod'
import { MAX_WHO } from '../../markdown/history-file.ts'
import { PLACES } from '../../model/history.ts'
import type { EndpointSpec, Method } from '../endpoint.ts'
import { EXAMPLES, type Example } from './examples.ts'
import type { Json, JsonOf } from './json-schemas.ts'
import { mayBe304, responsesOf } from './responses.ts'

/** An operation in OpenAPI, with the headers and errors that all operations of its kind have. */
export function describe(
  { method, path }: { method: Method; path: string },
  operation: EndpointSpec,
  json: JsonOf,
): Json {
  const { id, tag, summary, description, rawBody, body } = operation
  const sent = EXAMPLES.operations[id]
  const example = exampleOf(sent?.body)
  const requestBody = body
    ? {
        required: !operation.isBodyOptional,
        content: {
          'application/json': { schema: json(`${id} body`), ...example },
        },
      }
    : rawBody && {
        required: true,
        content: {
          [rawBody.type]: {
            schema: { type: 'string', description: rawBody.description },
            ...example,
          },
        },
      }
  const isRead = method === 'GET'
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters: [
      ...sentParameters(operation, json, sent),
      ...conditions(operation, isRead),
      ...(isRecorded(method, path) ? SENDER : []),
    ],
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf({ path, isRead, operation, json }),
  }
}

/** Whether the history of a case gets an entry for it. */
function isRecorded(method: Method, path: string): boolean {
  return (method === 'POST' || method === 'PUT') && /^\/cases(?!.*\/webhooks)/.test(path)
}

const SENDER: Json[] = [
  {
    name: 'Casefile-Actor',
    in: 'header',
    description:
      'Who sends the request, for the history of the case: one line of UTF-8. By default the `user.name` of git, or else the user of the operating system.',
    schema: { type: 'string', minLength: 1, maxLength: MAX_WHO },
  },
  {
    name: 'Casefile-Client',
    in: 'header',
    description: 'Which program sends the request, for the history of the case.',
    schema: { type: 'string', enum: [...PLACES], default: 'api' },
  },
]

function exampleOf(value: unknown): Json {
  return value === undefined ? {} : { example: value }
}

function sentParameters(
  { id, params = {}, query = {}, headers = {} }: EndpointSpec,
  json: JsonOf,
  sent?: Example,
): Json[] {
  const named = (
    place: 'path' | 'query' | 'header',
    schemas: Readonly<Record<string, z.ZodType>>,
    values?: Json,
  ) =>
    Object.entries(schemas).map(
      ([
        name,
        {
          _zod: { optin },
        },
      ]) => {
        const { description, ...schema } = json(`${id} ${name}`)
        const isList = schema.type === 'array'
        const value = values?.[name]
        const example = exampleOf(isList && value ? `${value}`.split(',') : value)
        const withCommas = isList ? { style: 'form', explode: false } : {}
        const required = optin === 'optional' ? {} : { required: true }
        return { name, in: place, ...required, description, ...withCommas, schema, ...example }
      },
    )
  return [
    ...named('path', params, sent?.params),
    ...named('query', query, sent?.query),
    ...named('header', headers, sent?.headers),
  ]
}

const MATCH = 'The ETag that the resource must still have; otherwise the response is 412.'
const NO_MATCH =
  'An ETag that the resource must not have, or `*` if it must not exist; otherwise the response is 412.'
const CACHED = 'The ETag that the client has. If it is still current, the response is 304.'

function conditions(operation: EndpointSpec, isRead: boolean): Json[] {
  const { isConditional } = operation
  const isCached = mayBe304(operation, isRead)
  const schema = { type: 'string' }
  return [
    ...(isConditional ? [{ name: 'If-Match', in: 'header', description: MATCH, schema }] : []),
    ...(isConditional || isCached
      ? [{ name: 'If-None-Match', in: 'header', description: isCached ? CACHED : NO_MATCH, schema }]
      : []),
  ]
}
