import { MAX_WHO } from '../../markdown/history-file.ts'
import { PLACES } from '../../model/history.ts'
import { EXAMPLES, type Example } from './examples.ts'
import type { Json, JsonOf } from './json-schemas.ts'
import { isKept, type Method, type Operation } from './operation.ts'
import { responsesOf } from './responses.ts'

/** An operation as OpenAPI describes it, with what all operations have in common. */
export function describe(
  { method, path }: { method: Method; path: string },
  operation: Operation,
  json: JsonOf,
): Json {
  const { id, tag, summary, description, bytes, body, bodyRules } = operation
  const sent = EXAMPLES.operations[id]
  const example = exampleOf(sent?.body)
  const requestBody = body
    ? {
        required: !operation.isBodyOptional,
        content: {
          'application/json': { schema: { ...json(`${id} body`), ...bodyRules }, ...example },
        },
      }
    : bytes && {
        required: true,
        content: {
          [bytes.type]: { schema: { type: 'string', description: bytes.description }, ...example },
        },
      }
  const isRead = method === 'GET'
  return {
    ...{ operationId: id, tags: [tag], summary, description },
    parameters: [
      ...pathParameters(path, sent),
      ...sentParameters(operation, json, sent),
      ...conditions(operation, isRead),
      ...(isRecorded(method, path) ? SENDER : []),
    ],
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf({ path, isRead, operation, json }),
  }
}

/** Whether the history of a case gets a line for it. */
function isRecorded(method: Method, path: string): boolean {
  return (method === 'POST' || method === 'PUT') && /^\/cases(?!.*\/webhooks)/.test(path)
}

const SENDER: Json[] = [
  {
    name: 'Casefile-Actor',
    in: 'header',
    description:
      'Who sends the request, for the history of the case; if not given, the `user.name` of git, else the user of the operating system. One line of UTF-8.',
    schema: { type: 'string', minLength: 1, maxLength: MAX_WHO },
  },
  {
    name: 'Casefile-Client',
    in: 'header',
    description: 'From where it is sent, for the history of the case.',
    schema: { type: 'string', enum: [...PLACES], default: 'api' },
  },
]

const NAMES: Readonly<Record<string, string>> = {
  '/cases/{id}': 'The id of the case.',
  '/webhooks/{id}': 'The id of the webhook.',
  '/providers/{id}': 'The name of the provider.',
  '{sid}': 'The id of the session.',
  '{pid}': 'The id of the proof.',
  '{webhook_id}': 'The id of the webhook.',
  '{did}': 'The id of the delivery.',
  '{filename}': 'The name of the file, such as `notes.md`.',
  '{name}': 'The name of the artifact.',
}
const NO_UUID = ['/providers/{id}', '{did}', '{filename}', '{name}']

function pathParameters(path: string, sent?: Example): Json[] {
  return [...path.matchAll(/(?:^\/\w+\/)?\{(\w+)\}/g)].map(([place, name]) => {
    const schema = { type: 'string', ...(NO_UUID.includes(place) ? {} : { format: 'uuid' }) }
    const example = exampleOf(sent?.params[name!])
    return { name, in: 'path', required: true, description: NAMES[place], schema, ...example }
  })
}

function exampleOf(value: unknown): Json {
  return value === undefined ? {} : { example: value }
}

function sentParameters(
  { id, query = {}, headers = {} }: Operation,
  json: JsonOf,
  sent?: Example,
): Json[] {
  const named = (names: object, place: 'query' | 'header') =>
    Object.keys(names).map((name) => {
      const { description, ...schema } = json(`${id} ${name}`)
      const isList = schema.type === 'array'
      const value = (place === 'query' ? sent?.query : sent?.headers)?.[name]
      const example = exampleOf(isList && value ? `${value}`.split(',') : value)
      const withCommas = isList ? { style: 'form', explode: false } : {}
      return { name, in: place, description, ...withCommas, schema, ...example }
    })
  return [...named(query, 'query'), ...named(headers, 'header')]
}

const MATCH = 'The ETag that the resource must still have, else it is 412.'
const NO_MATCH = 'An ETag that it must not have; `*` means that it must not be there.'
const HELD = 'The ETag that the client has: where it still holds the answer is 304.'

function conditions(operation: Operation, isRead: boolean): Json[] {
  const { isConditional } = operation
  const mayBeHeld = isKept(operation, isRead)
  const schema = { type: 'string' }
  return [
    ...(isConditional ? [{ name: 'If-Match', in: 'header', description: MATCH, schema }] : []),
    ...(isConditional || mayBeHeld
      ? [{ name: 'If-None-Match', in: 'header', description: mayBeHeld ? HELD : NO_MATCH, schema }]
      : []),
  ]
}
