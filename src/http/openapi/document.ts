import type * as z from 'zod'
import type { RefusalCode } from '../../model/refusal.ts'
import type { Build } from '../deps.ts'
import { PROBLEMS } from '../problem-json.ts'
import { anyOfThem, EVENTS, SENT_EVENTS, STREAMED, type Streamed } from '../schemas/event.ts'
import { problemDetails } from '../schemas/system.ts'
import { caseOperations } from './case-operations.ts'
import { describe } from './describe.ts'
import { EXAMPLES } from './examples.ts'
import { HEADERS } from './headers.ts'
import { type Json, schemasOf } from './json-schemas.ts'
import { type Method, type Operations, TAGS } from './operation.ts'
import { proofOperations } from './proof-operations.ts'
import { failures } from './responses.ts'
import { searchOperations } from './search-operations.ts'
import { sessionOperations } from './session-operations.ts'
import { providerOperations, systemOperations } from './system-operations.ts'
import { DELIVERY_HEADERS, deliveryOf } from './webhook-deliveries.ts'
import { webhookOperations } from './webhook-operations.ts'

/** What the service answers: the provider endpoints in a development build alone. */
export function operationsOf({ dev }: { dev: boolean }): Operations {
  return {
    ...systemOperations,
    ...caseOperations,
    ...searchOperations,
    ...sessionOperations,
    ...proofOperations,
    ...webhookOperations,
    ...(dev ? providerOperations : {}),
  }
}

/** What holds for every operation, and so is not said of each. */
const ABOUT = `A local service whose database is a folder of markdown files.

Requests are answered on the loopback address alone. \`Host\` must name it, and \`Origin\` and \`Sec-Fetch-Site\`, where they are there, must say that the request comes from the service's own pages: else it is 403. HEAD works wherever GET does. A method that a path does not have is 405.

Any request may besides meet a service that fails (500), that is stopping (503), or that has no room on its disk (507), each with the same \`ProblemDetails\`. Bytes that are no HTTP request get a bare 400, 408 or 431.`

/** The API as OpenAPI 3.1 describes it: made of the schemas that check the requests. */
export function openApiDocument({ build, dev }: { build: Build; dev: boolean }): Json {
  const operations = operationsOf({ dev })
  const { json, components } = schemasOf({ ...schemasIn(operations), problem: problemDetails })
  const paths: Record<string, Json> = {}
  for (const [route, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = route.replace(/:(\w+)/g, '{$1}').split(' ')
    const place = { method: method as Method, path }
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(place, operation, json) }
  }
  const headers = Object.keys(HEADERS).map((name) => {
    const { description, ...schema } = json(`header ${name}`)
    return [name, { description, schema }]
  })
  const responses = failures()
  const used = JSON.stringify([paths, responses])
  const examples = Object.entries(EXAMPLES.refusals)
    .filter(([code]) => used.includes(`"#/components/examples/${code}"`))
    .map(([code, value]) => [code, { summary: PROBLEMS[code as RefusalCode].title, value }])
  const streamed = (Object.keys(STREAMED) as Streamed[]).map((name) => [name, anyOfThem(name)])
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: 'Casefile', version: build.version, summary: 'The record of AI-assisted work' },
      ...{ description: ABOUT, license: { name: 'MIT', identifier: 'MIT' } },
      contact: { name: 'The authors of Casefile' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    security: [],
    tags: Object.entries(TAGS)
      .filter(([name]) => dev || name !== 'Providers')
      .map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(SENT_EVENTS.map((type) => [type, deliveryOf(type, json)])),
    components: {
      schemas: { ...components, ...Object.fromEntries(streamed) },
      headers: Object.fromEntries(headers),
      responses,
      examples: Object.fromEntries(examples),
    },
  }
}

/** All that is described, each by a name of its own. */
function schemasIn(operations: Operations): Record<string, z.ZodType> {
  const named = (kind: string, schemas: Iterable<[string, z.ZodType]>) =>
    [...schemas].map(([name, schema]) => [`${kind} ${name}`, schema])
  const ofOperations = Object.values(operations).flatMap((operation) => {
    const { id, body, query = {}, headers = {}, answers } = operation
    return named(id, [
      ...Object.entries({ ...query, ...headers, ...(body ? { body } : {}) }),
      ...Object.entries(answers).flatMap(([status, answer]): [string, z.ZodType][] =>
        answer?.json ? [[status, answer.json]] : [],
      ),
    ])
  })
  return Object.fromEntries([
    ...ofOperations,
    ...named('header', Object.entries(HEADERS)),
    ...named('delivery', Object.entries(DELIVERY_HEADERS)),
    ...named('event', EVENTS),
  ])
}
