import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import * as z from 'zod'
import { createApp } from '../../src/http/app.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import { EXAMPLES } from '../../src/http/openapi/examples.ts'
import { schemaOf } from '../../src/http/openapi/same-type.ts'
import { createStreamRegistry } from '../../src/http/stream-registry.ts'
import { DEFAULT_EVENTS, FURTHER_EVENTS } from '../../src/model/webhook.ts'
import type { Parameter } from '../../src/web/reference/api-document.ts'
import { curlLine } from '../../src/web/reference/curl-line.ts'
import { record } from '../fixtures/api-examples/record.ts'
import { contractOf, type Json } from '../fixtures/fuzz/contract.ts'
import { everyAnswer } from '../fixtures/fuzz/every-answer.ts'
import { openTestService } from '../fixtures/workspace.ts'

const BUILD = { version: '0.1.0', commit: null }

t.test(
  'GET /openapi.json is valid OpenAPI 3.1, has an ETag, and is behind the guard',
  async (t) => {
    const app = await openTestService(t)
    const { json, headers } = await app.request('GET', '/openapi.json')
    const { valid, errors } = await new Validator().validate(structuredClone(json))
    t.ok(valid, JSON.stringify(errors))
    t.match(json, { openapi: /^3\.1\./, info: { version: /^\d/ }, servers: [{ url: '/' }] })
    t.match(
      await app.request('GET', '/openapi.json', undefined, { 'if-none-match': headers.etag! }),
      {
        status: 304,
        text: '',
      },
    )
    t.match(
      await app.request('GET', '/openapi.json', undefined, { origin: 'http://evil.example' }),
      {
        status: 403,
      },
    )
    t.notOk('/providers' in json.paths, 'they are for --dev')
  },
)

t.test('it has every route, and no other', async (t) => {
  const { service, request } = await openTestService(t, { dev: true })
  const app = createApp(service, { port: () => 0, streams: createStreamRegistry() })
  const routes = app.routes.filter(({ method }) => method !== 'ALL')
  const { paths } = (await request('GET', '/openapi.json')).json
  const described = Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  t.strictSame(
    described.sort(),
    [...new Set(routes.map(({ method, path }) => `${method} ${template(path)}`))].sort(),
  )
})

/** As OpenAPI writes it; a router's own path ends in a stroke that no request has. */
function template(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace(/(?<=.)\/$/, '')
}

t.test('it tells of every event that a webhook may be sent, and each has one name', async (t) => {
  const { request } = await openTestService(t)
  const { webhooks, paths, components } = (await request('GET', '/openapi.json')).json
  t.strictSame(Object.keys(webhooks), [...DEFAULT_EVENTS, ...FURTHER_EVENTS, 'ping'])
  const operations = [paths, webhooks].flatMap((all) =>
    Object.values<Json>(all).flatMap(Object.values),
  )
  const ids = operations.map(({ operationId }: Json) => operationId)
  t.equal(new Set(ids).size, ids.length)
  t.match(components.schemas.CaseUpdatedEvent.properties.event_type, { const: 'case_updated' })
})

t.test('every example is what the service answers (npm run docs:examples)', async (t) => {
  const { examples, faults } = await record()
  t.strictSame(faults, [], 'each answer is as it is described')
  t.strictSame(examples, EXAMPLES)
})

t.test('every request, every answer with a body, and every refusal has an example', async (t) => {
  const { paths, components } = openApiDocument({ build: BUILD, dev: true }) as Json
  for (const [path, methods] of Object.entries<Json>(paths)) {
    for (const { operationId, parameters, requestBody, responses } of Object.values<Json>(
      methods,
    )) {
      const named = parameters.filter((each: Json) => each.in === 'path')
      for (const { name, example } of named) t.type(example, 'string', `${path} ${name}`)
      const bodies = Object.entries<Json>({ request: requestBody ?? {}, ...responses })
      for (const [which, { content = {} }] of bodies) {
        const all = Object.values<Json>(content)
        const shown = all.filter(({ example, examples }) => (example ?? examples) !== undefined)
        t.equal(shown.length > 0, all.length > 0, `${operationId} ${which}`)
        for (const { examples = {} } of all) {
          for (const code of Object.keys(examples)) t.ok(components.examples[code], code)
        }
      }
    }
  }
})

t.test('the curl line of an example can be pasted', async (t) => {
  const parameters: Parameter[] = [{ name: 'q', in: 'query', schema: {}, example: "it's type:bug" }]
  const operation = { operationId: '', tags: [], summary: '', parameters, responses: {} }
  const line = curlLine({ method: 'GET', path: '/search', operation }, 'http://127.0.0.1:1')
  t.equal(line, "curl -sS 'http://127.0.0.1:1/search?q=it'\\''s%20type:bug'")
})

t.test('a schema that differs from what is answered does not compile', async (t) => {
  const of = schemaOf<{ a: string; b?: readonly number[] }>()
  const b = z.array(z.number())
  t.ok(of(z.object({ a: z.string(), b: z.exactOptional(b) })))
  // @ts-expect-error a member is missing, though an optional one
  of(z.object({ a: z.string() }))
  // @ts-expect-error one more
  of(z.object({ a: z.string(), b: z.exactOptional(b), c: z.string() }))
  // @ts-expect-error one that is not always there
  of(z.object({ a: z.string(), b }))
  // @ts-expect-error another type
  of(z.object({ a: z.string(), b: z.exactOptional(z.array(z.string())) }))
})

t.test('every answer that it describes is given, and is as described', async (t) => {
  const app = await openTestService(t, { dev: true, gitPatienceMs: 50 })
  const document = (await app.request('GET', '/openapi.json')).json
  const contract = contractOf(document)
  const faults = await everyAnswer(t, app, contract)
  t.strictSame(faults, [])
  const wanted = contract.operations.flatMap(({ name, responses }) =>
    Object.keys(responses).map((status) => `${name} ${status}`),
  )
  const missing = wanted.filter((each) => !contract.seen.has(each) && !shownElsewhere(each))
  t.strictSame(missing, [])
})

/** What takes too long to be shown here, or cannot be: each is in a test of its own. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^GET .* 413$/, 'plumbing.ts, proof.ts: a list over 64 MiB'],
  [/^POST .*\/webhooks 422$/, 'webhooks.ts: 500 of them'],
  [/^POST .*\/run (200|409|502)$/, 'providers.ts'],
  [/^GET .*\/(memory|artifacts) 409$/, 'a folder without permission, which is none for root'],
]

function shownElsewhere(pair: string): boolean {
  return ELSEWHERE.some(([pattern]) => pattern.test(pair))
}
