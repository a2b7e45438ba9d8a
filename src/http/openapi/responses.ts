import type { ErrorCode } from '../../model/app-error.ts'
import type { EndpointSpec, ResponseSpec } from '../endpoint.ts'
import { ERRORS } from '../errors.ts'
import type { HeaderName } from '../schemas/response-headers.ts'
import { STREAM_EXAMPLE } from './examples.ts'
import { type Json, type JsonSchemas, withExample } from './json-schemas.ts'

interface Described {
  path: string
  isRead: boolean
  operation: EndpointSpec
  schemas: JsonSchemas
}

/** Every response of an endpoint, by its status. */
export function responsesOf({ path, isRead, operation, schemas }: Described): Json {
  const { id, responses, example: own } = operation
  const good = Object.entries(responses).map(([status, response]) => {
    const { description, headers = [], optionalHeaders = [] } = response!
    const content = contentOf(response!, `${id} ${status}`, {
      schemas,
      own: own?.responses?.[Number(status)],
    })
    const all = { ...headersOf(headers, true), ...headersOf(optionalHeaders, false) }
    return [status, { description, ...(isEmpty(all) ? {} : { headers: all }), ...content }]
  })
  const kept = headersOf([...(responses[200]?.headers ?? []), 'ETag'], true)
  const same = { description: 'Not modified.', headers: kept }
  return {
    ...Object.fromEntries(good),
    ...(mayBe304(operation, isRead) ? { 304: same } : {}),
    ...errorsOf(path, operation),
    ...FAILED,
  }
}

/** Errors of any request. Each status is listed: some generators write `5XX` into code as a number. */
const FAILURES = Object.entries({
  Failed: ['internal', 'storage_failed'],
  Stopping: ['stopping'],
  Full: ['storage_full'],
} satisfies Record<string, [ErrorCode, ...ErrorCode[]]>)

const FAILED: Json = Object.fromEntries(
  FAILURES.map(([name, [code]]) => [
    ERRORS[code!].status,
    { $ref: `#/components/responses/${name}` },
  ]),
)

/** The components that every operation refers to. */
export function failures(): Json {
  return Object.fromEntries(FAILURES.map(([name, codes]) => [name, errorOf(codes)]))
}

function contentOf(
  { json, text, bytes = [], events }: ResponseSpec,
  name: string,
  { schemas, own }: { schemas: JsonSchemas; own: unknown },
): Json {
  const content: Json = {}
  if (json) {
    content['application/json'] = {
      schema: schemas.json(name),
      ...withExample(own ?? schemas.example(name)),
    }
  }
  if (text) {
    const schema = { type: 'string', description: text.description }
    content[text.type] = { schema, ...withExample(own) }
  }
  for (const { type, description } of bytes) {
    content[type] = { schema: { description }, ...withExample(own) }
  }
  if (events !== undefined) {
    const contentSchema = { $ref: `#/components/schemas/${events}` }
    const schema = { type: 'string', contentMediaType: 'text/event-stream' }
    content['text/event-stream'] = {
      schema: { ...schema, ...(events ? { contentSchema } : {}) },
      ...(events ? { example: STREAM_EXAMPLE } : {}),
    }
  }
  return isEmpty(content) ? {} : { content }
}

function headersOf(names: readonly HeaderName[], required: boolean): Json {
  const refs = names.map((name) => {
    const $ref = `#/components/headers/${name}`
    return [name, required ? { $ref } : { $ref, description: 'Not in every response.' }]
  })
  return Object.fromEntries(refs)
}

const JSON_BODY = ['bad_request', 'invalid_json', 'unsupported_media_type', 'too_large'] as const

const ACCEPTED = ['Accept', 'Accept-Post', 'Accept-Patch', 'Accept-Encoding'] as const

/** The errors that the endpoint lists, and those that every endpoint of its kind has. */
function errorsOf(path: string, operation: EndpointSpec): Json {
  const codes = new Set<ErrorCode>([
    'forbidden',
    ...(path.includes('{') ? ['not_found' as const] : []),
    ...(operation.query ? ['bad_request' as const] : []),
    ...(operation.body && !operation.takesAnyBody ? JSON_BODY : []),
    ...(operation.isConditional ? ['precondition_failed' as const] : []),
    ...(operation.operatorOnly ? ['own_session' as const] : []),
    ...(operation.errors ?? []),
  ])
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { status } = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries([...byStatus].map(([status, same]) => [status, errorOf(same)]))
}

function errorOf(codes: readonly ErrorCode[]): Json {
  const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' ')
  // one type for all errors, so that clients get no type per response; the examples show the codes
  const schema = { $ref: '#/components/schemas/ProblemDetails' }
  const headers = {
    ...headersOf(codes.includes('range_not_satisfiable') ? ['Content-Range'] : [], true),
    ...headersOf(codes.includes('unsupported_media_type') ? ACCEPTED : [], false),
  }
  const examples = Object.fromEntries(
    codes
      .filter((code) => ERRORS[code].example)
      .map((code) => [code, { $ref: `#/components/examples/${code}` }]),
  )
  const described = isEmpty(headers) ? {} : { headers }
  return {
    description,
    ...described,
    content: {
      'application/problem+json': { schema, ...(isEmpty(examples) ? {} : { examples }) },
    },
  }
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

/** Whether a GET may get 304. */
export function mayBe304({ responses }: EndpointSpec, isRead: boolean): boolean {
  const { headers = [], optionalHeaders = [] } = responses[200] ?? {}
  return isRead && [...headers, ...optionalHeaders].includes('ETag')
}
