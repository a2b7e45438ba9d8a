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
  const requestBody = body
    ? {
        required: !operation.isBodyOptional,
        content: { 'application/json': { schema: { ...json(`${id} body`), ...bodyRules } } },
      }
    : bytes && {
        required: true,
        content: { [bytes.type]: { schema: { type: 'string', description: bytes.description } } },
      }
  const isRead = method === 'GET'
  return {
    ...{ operationId: id, tags: [tag], summary },
    ...(description ? { description } : {}),
    parameters: [
      ...pathParameters(path),
      ...sentParameters(operation, json),
      ...conditions(operation, isRead),
    ],
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf({ path, isRead, operation, json }),
  }
}

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

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/(?:^\/\w+\/)?\{(\w+)\}/g)].map(([place, name]) => {
    const schema = { type: 'string', ...(NO_UUID.includes(place) ? {} : { format: 'uuid' }) }
    return { name, in: 'path', required: true, description: NAMES[place], schema }
  })
}

function sentParameters({ id, query = {}, headers = {} }: Operation, json: JsonOf): Json[] {
  const named = (names: object, place: 'query' | 'header') =>
    Object.keys(names).map((name) => {
      const { description, ...schema } = json(`${id} ${name}`)
      const withCommas = schema.type === 'array' ? { style: 'form', explode: false } : {}
      return { name, in: place, description, ...withCommas, schema }
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
