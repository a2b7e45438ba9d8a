import type * as z from 'zod'
import { MAX_WHO } from '../../markdown/history-file.ts'
import { CLIENTS } from '../../model/channels.ts'
import type { EndpointSpec, Method } from '../endpoint.ts'
import { type Json, type JsonSchemas, withExample } from './json-schemas.ts'
import { mayBe304, responsesOf } from './responses.ts'

/** An operation in OpenAPI, with the headers and errors that all operations of its kind have. */
export function describe(
  { method, path }: { method: Method; path: string },
  operation: EndpointSpec,
  schemas: JsonSchemas,
): Json {
  const { id, tag, summary, description, rawBody, body, example = {} } = operation
  const requestBody = body
    ? {
        required: !operation.isBodyOptional,
        content: {
          'application/json': {
            schema: schemas.json(`${id} body`),
            ...withExample(example.body ?? schemas.example(`${id} body`)),
          },
          ...Object.fromEntries(
            (operation.otherBodies ?? []).map(({ type, description }) => [
              type,
              { schema: { description } },
            ]),
          ),
        },
      }
    : rawBody && {
        required: true,
        content: {
          [rawBody.type]: {
            schema: { type: 'string', description: rawBody.description },
            ...withExample(example.body),
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
      ...sentParameters(operation, schemas),
      ...conditions(operation, isRead),
      ...(isRecorded(method, path) ? SENDER : []),
    ],
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf({
      path,
      isRead,
      operation,
      schemas,
    }),
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
    schema: { type: 'string', enum: [...CLIENTS], default: 'api' },
  },
]

function sentParameters(
  { id, params = {}, query = {}, headers = {}, example: own = {} }: EndpointSpec,
  schemas: JsonSchemas,
): Json[] {
  const named = (
    place: 'path' | 'query' | 'header',
    shape: Readonly<Record<string, z.ZodType>>,
    values: Json = {},
  ) =>
    Object.entries(shape).map(([name, { _zod }]) => {
      const { description, examples: _, ...schema } = schemas.json(`${id} ${name}`)
      const example = withExample(values[name] ?? schemas.example(`${id} ${name}`))
      const withCommas = schema.type === 'array' ? { style: 'form', explode: false } : {}
      const required = _zod.optin === 'optional' ? {} : { required: true }
      return { name, in: place, ...required, description, ...withCommas, schema, ...example }
    })
  return [
    ...named('path', params, own.params),
    ...named('query', query, own.query),
    ...named('header', headers),
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
