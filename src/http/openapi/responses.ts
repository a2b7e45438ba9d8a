import type { RefusalCode } from '../../model/refusal.ts'
import { ERRORS } from '../problem-json.ts'
import { EXAMPLES } from './examples.ts'
import type { HeaderName } from './headers.ts'
import type { Json, JsonOf } from './json-schemas.ts'
import { type Answer, isKept, type Operation } from './operation.ts'

interface Described {
  path: string
  isRead: boolean
  operation: Operation
  json: JsonOf
}

/** Every answer of an operation, by its status. */
export function responsesOf({ path, isRead, operation, json }: Described): Json {
  const { id, answers } = operation
  const good = Object.entries(answers).map(([status, answer]) => {
    const { description, headers = [], sometimes = [] } = answer!
    const example = EXAMPLES.operations[id]?.answers[Number(status)]
    const content = contentOf(answer!, () => json(`${id} ${status}`), example)
    const all = { ...headersOf(headers, true), ...headersOf(sometimes, false) }
    return [status, { description, ...(isEmpty(all) ? {} : { headers: all }), ...content }]
  })
  const kept = headersOf([...(answers[200]?.headers ?? []), 'ETag'], true)
  const same = { description: 'It is what the client has.', headers: kept }
  return {
    ...Object.fromEntries(good),
    ...(isKept(operation, isRead) ? { 304: same } : {}),
    ...refusalsOf(path, operation),
    ...FAILED,
  }
}

/** What any request may meet. Each status by itself: some generators write `5XX` into code as a number. */
const FAILURES = Object.entries({
  Failed: ['internal', 'storage_failed'],
  Stopping: ['stopping'],
  Full: ['storage_full'],
} satisfies Record<string, [RefusalCode, ...RefusalCode[]]>)

const FAILED: Json = Object.fromEntries(
  FAILURES.map(([name, [code]]) => [
    ERRORS[code!].status,
    { $ref: `#/components/responses/${name}` },
  ]),
)

/** The components that every operation refers to. */
export function failures(): Json {
  return Object.fromEntries(FAILURES.map(([name, codes]) => [name, refusalOf(codes)]))
}

function contentOf({ json, text, events }: Answer, schema: () => Json, answer: unknown): Json {
  const content: Json = {}
  const example = answer === undefined ? {} : { example: answer }
  if (json) content['application/json'] = { schema: schema(), ...example }
  if (text) {
    const schema = { type: 'string', description: text.description }
    content[text.type] = { schema, ...example }
  }
  if (events !== undefined) {
    const contentSchema = { $ref: `#/components/schemas/${events}` }
    const schema = { type: 'string', contentMediaType: 'text/event-stream' }
    content['text/event-stream'] = {
      schema: { ...schema, ...(events ? { contentSchema } : {}) },
      ...(json ? {} : example),
    }
  }
  return isEmpty(content) ? {} : { content }
}

function headersOf(names: readonly HeaderName[], required: boolean): Json {
  const refs = names.map((name) => {
    const $ref = `#/components/headers/${name}`
    return [name, required ? { $ref } : { $ref, description: 'With some of these answers.' }]
  })
  return Object.fromEntries(refs)
}

const JSON_BODY = ['bad_request', 'invalid_json', 'unsupported_media_type', 'too_large'] as const

const ACCEPTED = ['Accept', 'Accept-Post', 'Accept-Patch', 'Accept-Encoding'] as const

/** What the operation is refused for: what it says itself, and what all of its kind are. */
function refusalsOf(path: string, operation: Operation): Json {
  const codes = new Set<RefusalCode>([
    'forbidden',
    ...(path.includes('{') ? ['not_found' as const] : []),
    ...(operation.body ? JSON_BODY : []),
    ...(operation.isConditional ? ['precondition_failed' as const] : []),
    ...(operation.isOperators ? ['own_session' as const] : []),
    ...(operation.refusals ?? []),
  ])
  const byStatus = new Map<number, RefusalCode[]>()
  for (const code of codes) {
    const { status } = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries([...byStatus].map(([status, same]) => [status, refusalOf(same)]))
}

function refusalOf(codes: readonly RefusalCode[]): Json {
  const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' ')
  // one type for all, so that a client has no other for each answer: which codes it may have, the examples say
  const schema = { $ref: '#/components/schemas/ProblemDetails' }
  const headers = {
    ...headersOf(codes.includes('range_not_satisfiable') ? ['Content-Range'] : [], true),
    ...headersOf(codes.includes('unsupported_media_type') ? ACCEPTED : [], false),
  }
  const examples = Object.fromEntries(
    codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
  )
  const described = isEmpty(headers) ? {} : { headers }
  return {
    description,
    ...described,
    content: { 'application/problem+json': { schema, examples } },
  }
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}
