import { createHmac } from 'node:crypto'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { createApp } from '../../src/http/app.ts'
import { endpointsOf } from '../../src/http/endpoints.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import { approvalSchema } from '../../src/http/schemas/approval.ts'
import { artifactParam, caseIdParam } from '../../src/http/schemas/params.ts'
import { exampleOf } from '../../src/http/schemas/primitives.ts'
import { createStreamRegistry } from '../../src/http/sse/stream-registry.ts'
import { DEFAULT_EVENTS, FURTHER_EVENTS } from '../../src/model/event-lookup.ts'
import { TIME } from '../../src/model/name-patterns.ts'
import { pages } from '../../src/web/pages.ts'
import { trackSilentLogs } from '../../src/web/session/silent-logs.ts'
import { exampleFaults, placesIn } from '../fixtures/example-faults.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { contractOf, type Json } from '../fixtures/fuzz/contract.ts'
import { everyAnswer } from '../fixtures/fuzz/every-answer.ts'
import { send } from '../fixtures/fuzz/send.ts'
import { openTestService } from '../fixtures/workspace.ts'

const BUILD = { version: '0.1.0', commit: null }
const SAMPLE = fileURLToPath(new URL('../../sample-workspace', import.meta.url))

const dev = await openTestService(t, { dev: true, gitTimeoutMs: 50 })
/** The document as a client gets it. Made, and compiled, once for all tests. */
const [DEV, USUAL]: Json[] = [true, false].map((dev) =>
  JSON.parse(JSON.stringify(openApiDocument(endpointsOf({ dev }), { build: BUILD }))),
)
const contract = contractOf(DEV)

t.test(
  'GET /openapi.json is valid OpenAPI 3.1, has an ETag, and is behind the guard',
  async (t) => {
    const { headers, json } = await dev.request('GET', '/openapi.json')
    t.equal(JSON.stringify(json.paths), JSON.stringify(DEV.paths))
    if (isLong) {
      const { valid, errors } = await new Validator().validate(structuredClone(json))
      t.ok(valid, JSON.stringify(errors))
    }
    t.match(json, { openapi: /^3\.1\./, info: { version: /^\d/ }, servers: [{ url: '/' }] })
    t.match(
      await dev.request('GET', '/openapi.json', undefined, { 'if-none-match': headers.etag! }),
      {
        status: 304,
        text: '',
      },
    )
    t.match(
      await dev.request('GET', '/openapi.json', undefined, { origin: 'http://evil.example' }),
      {
        status: 403,
      },
    )
    t.notOk('/providers' in USUAL.paths, 'they are for --dev')
  },
)

t.test('it has every route, and no other', async (t) => {
  const { service } = dev
  const app = createApp(service, { port: () => 0, streams: createStreamRegistry() })
  const routes = app.routes.filter(({ method }) => method !== 'ALL')
  const { paths } = DEV
  const documented = Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const mounted = new Set(routes.map(({ method, path }) => `${method} ${template(path)}`))
  mounted.add('GET /cases/{id}/proof/checklist') // at the path of one proof
  t.strictSame(documented.sort(), [...mounted].sort())
})

t.test('every path is matched by the fast one of the routers of hono', async (t) => {
  const { service } = dev
  const options = {
    port: () => 0,
    streams: createStreamRegistry(),
    ...pages(service, trackSilentLogs(service.outputs)),
  }
  const app = createApp(service, options)
  t.equal((await app.request('/version')).status, 200)
  t.equal(app.router.name, 'SmartRouter + RegExpRouter')
})

/** As OpenAPI writes it; a router's own path ends in a stroke that no request has. */
function template(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace(/(?<=.)\/$/, '')
}

t.test('it has every event that a webhook can get, and each has one name', async (t) => {
  const { webhooks, paths, components } = DEV
  t.strictSame(Object.keys(webhooks), [...DEFAULT_EVENTS, ...FURTHER_EVENTS, 'ping'])
  const operations = [paths, webhooks].flatMap((all) =>
    Object.values<Json>(all).flatMap(Object.values),
  )
  const ids = operations.map(({ operationId }: Json) => operationId)
  t.equal(new Set(ids).size, ids.length)
  t.match(components.schemas.CaseUpdatedEvent.properties.event_type, { const: 'case_updated' })
})

t.test('every example fits its schema, which names all its members', inLongLane, async (t) => {
  t.strictSame(exampleFaults(DEV, contract), [])
})

t.test('every GET of the examples is answered on the sample', inLongLane, async (t) => {
  const app = await openTestService(t, { dev: true })
  cpSync(SAMPLE, app.root, { recursive: true })
  // artifacts stay on the machine that made them, so the sample has none
  const artifact = app.file(exampleOf(caseIdParam), 'artifacts', exampleOf(artifactParam))
  mkdirSync(dirname(artifact))
  writeFileSync(artifact, 'ok 1\n1..1\n')
  await app.restart()
  const agent = new Agent()
  t.teardown(() => agent.destroy())
  const isOfWebhook = /webhook_id|\/webhooks\/\{id\}/
  for (const { id, method, template, parameters } of contract.operations) {
    if (method !== 'GET' || isOfWebhook.test(template)) continue
    const { path, query } = exampleRequest(template, parameters)
    const sent = { method, path: path + query, headers: {}, body: undefined }
    const answered = await send(agent, app.url, sent)
    t.equal(answered.status, 200, id)
    t.equal(contract.faultOf(sent, answered), null, id)
    if (id === 'getSession') {
      const { plan_sha256 } = exampleOf(approvalSchema)
      t.match(answered.json, { state: 'plan_ready', plan_sha256 }, 'the example approves it')
    }
  }
})

function exampleRequest(template: string, parameters: Json[]): { path: string; query: string } {
  const given = parameters.filter(({ example }) => example !== undefined)
  const of = (place: string) => given.filter((each) => each.in === place)
  const path = of('path').reduce(
    (all, { name, example }) => all.replace(`{${name}}`, example),
    template,
  )
  const query = new URLSearchParams(of('query').map(({ name, example }) => [name, `${example}`]))
  return { path, query: query.size > 0 ? `?${query}` : '' }
}

t.test('every request and every response with a body has an example', async (t) => {
  const { paths } = DEV
  const without: string[] = []
  for (const [path, methods] of Object.entries<Json>(paths)) {
    for (const { operationId, parameters, requestBody, responses } of Object.values<Json>(
      methods,
    )) {
      for (const { name, example, in: place } of parameters) {
        if (place === 'path' && typeof example !== 'string') without.push(`${path} ${name}`)
      }
      const bodies = Object.entries<Json>({ request: requestBody ?? {}, ...responses })
      for (const [which, { content = {} }] of bodies) {
        if ('application/problem+json' in content) continue
        const all = Object.values<Json>(content)
        const isShown = all.some(({ example, examples }) => (example ?? examples) !== undefined)
        if (isShown !== all.length > 0) without.push(`${operationId} ${which}`)
      }
    }
  }
  t.strictSame(without, [])
})

t.test('generators and linters of other languages understand it', async (t) => {
  t.ok(DEV.info.contact.name)
  const operations = Object.values<Json>(DEV.paths).flatMap(Object.values)
  const isTold = ({ summary, description }: Json) =>
    /\w/.test(summary) && /\w.*\.$/.test(description)
  t.ok(operations.every(isTold), 'each operation is described in sentences')
  const places = [...placesIn(DEV, '')]
  const unportable = places.filter(([, { pattern }]) => /\\[pPu/]|\(\?[=!<]/.test(pattern ?? ''))
  t.strictSame(
    unportable,
    [],
    'no pattern has what Python, Go, or JavaScript without u does not know',
  )
  const unions = places.filter(([, { properties, anyOf, oneOf }]) => properties && (anyOf ?? oneOf))
  t.strictSame(unions, [], 'no object is a union of lists of names')
  const ranges = places.filter(([place, value]) => place.startsWith('/paths') && value['5XX'])
  t.strictSame(ranges, [], 'each status is a number: clients made of a range do not compile')
  const lists = places.filter(([, { type, items }]) => type === 'array' && !items)
  t.strictSame(lists, [], 'each list says of what')
  t.ok(places.every(([, { prefixItems, allOf }]) => !prefixItems && !allOf))
  const patterns = places.filter(([, { pattern }]) => typeof pattern === 'string')
  t.ok(
    patterns.every(([, { type }]) => [type].flat().includes('string')),
    'they have a type',
  )
})

t.test('the pattern of a text takes what is taken, with and without the flag u', async (t) => {
  const { components } = USUAL
  const { title, tags } = components.schemas.NewCase.properties
  const { description } = components.schemas.NewChecklistItem.properties
  const texts: [schema: Json, taken: string[], refused: string[]][] = [
    [
      title,
      ['a', ' a b ', '\u00e9 \u{1f44d}', '\u00a0x'],
      ['', ' ', '\u2003', 'a\nb', 'a\u0085', '\u007fa'],
    ],
    [description, ['a', 'a b', '\u{1f44d}'], ['', ' a', 'a ', '\u00a0a', 'a\tb', 'a\n']],
    [
      tags.items,
      ['a', '9:._/+-', '\u00fcml', 'a'.repeat(64)],
      ['', '-a', '_a', '+a', 'a b', 'a,b', 'a#', '[', 'a`', 'a^', 'a\u007f', 'a'.repeat(65)],
    ],
  ]
  for (const [{ pattern }, taken, refused] of texts) {
    for (const flags of ['', 'u']) {
      const shape = new RegExp(pattern, flags)
      const fits = (text: string) => shape.test(text)
      t.strictSame([...taken, ...refused].filter(fits), taken, `${pattern} ${flags}`)
    }
  }
})

t.test('each example of a delivery is a signed event, of its type and schema', async (t) => {
  for (const [type, { post }] of Object.entries<Json>(USUAL.webhooks)) {
    const { schema, example } = post.requestBody.content['application/json']
    t.match(example, { event_type: type, timestamp: TIME, payload: {} }, type)
    t.equal(contract.objectionTo(schema.$ref, example), null, type)
    const sent = Object.fromEntries(post.parameters.map((each: Json) => [each.name, each.example]))
    const [, secret] = /secret is `([^`]+)`/.exec(post.parameters[1].description)!
    const mac = createHmac('sha256', secret!).update(JSON.stringify(example)).digest('hex')
    t.match(sent, { 'X-Service-Event': type, 'X-Service-Signature': `sha256=${mac}` })
    const key = Buffer.from(secret!.slice('whsec_'.length), 'base64')
    const signed = `${sent['webhook-id']}.${sent['webhook-timestamp']}.${JSON.stringify(example)}`
    const signature = createHmac('sha256', key).update(signed).digest('base64')
    t.equal(sent['webhook-signature'], `v1,${signature}`)
  }
})

t.test('every response that it describes is given, and is as described', async (t) => {
  const faults = await everyAnswer(t, dev, contract)
  t.strictSame(faults, [])
  const wanted = contract.operations.flatMap(({ name, responses }) =>
    Object.keys(responses).map((status) => `${name} ${status}`),
  )
  // what the same lines refuse for all operations is asked of one, and a conflict is shown where it is tested too
  const isAsked = (each: string) =>
    isLong || !/ (206|403|409|413|415|416|422)$|\/queue|DELETE /.test(each)
  const missing = wanted.filter((each) => !contract.seen.has(each) && !shownElsewhere(each))
  t.strictSame(missing.filter(isAsked), [])
})

/** What takes too long to be shown here, or cannot be: each is in a test of its own. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^GET .* 413$/, 'plumbing.ts, proof.ts: a list over 64 MiB'],
  [/^POST .*\/webhooks 422$/, 'webhooks.ts: 500 of them'],
  [/^(PATCH|DELETE) \/webhooks\/\{id\} 422$/, 'test/webhooks/notify.ts: set in casefile.md'],
  [/^PUT \/setup (409|422)$/, 'setup.ts, settings that need trust or changed meanwhile'],
  [/ (500|503|507)$/, 'test/faults, raw-sockets.ts'],
  [/^DELETE .*\/queue 409$/, 'test/sessions/queue.ts: a file that cannot be written'],
  [/^POST .*\/run (200|409|502)$/, 'providers.ts'],
  [/^POST .*\/(apply|discard) (200|409)$/, 'sessions/isolation.ts'],
  [/^GET .*\/(memory|artifacts) 409$/, 'a folder without permission, which is none for root'],
]

function shownElsewhere(pair: string): boolean {
  return ELSEWHERE.some(([pattern]) => pattern.test(pair))
}
