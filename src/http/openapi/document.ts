import type * as z from 'zod'
import type { ErrorCode } from '../../model/app-error.ts'
import type { Build } from '../deps.ts'
import { type EndpointSpec, type Method, TAGS } from '../endpoint.ts'
import { ERRORS } from '../errors.ts'
import { anyOfThem, EVENT_SCHEMAS, SENT_EVENTS, STREAMED, type Streamed } from '../schemas/event.ts'
import { HEADERS } from '../schemas/response-headers.ts'
import { problemDetails } from '../schemas/system.ts'
import { describe } from './describe.ts'
import { errorExample } from './examples.ts'
import { type Json, schemasOf } from './json-schemas.ts'
import { failures } from './responses.ts'
import { DELIVERY_HEADERS, deliveryOf } from './webhook-deliveries.ts'

/** What is true of every operation. */
const ABOUT = `Casefile keeps cases (problems and requests), the sessions in which agents work on them, and the proof that they are resolved. It is a local service whose database is a folder of markdown files. The operator is the person who runs it.

The service listens on the loopback address only, and \`Host\` must name that address. Requests from a browser (with \`Origin\` or \`Sec-Fetch-Site\`) must come from Casefile's own pages. All other requests get 403. HEAD works wherever GET does. A method that a path does not support gets 405.

Unknown fields of a body are ignored. Later versions may add members to responses.

Any request may also get 500 (internal error or storage failure), 503 (stopping) or 507 (storage full), each with \`ProblemDetails\`. Bytes that are not a valid HTTP request get 400, 408, 431 or 501 with problem details that have no \`code\`, and the connection is closed. A browser gets errors as HTML pages, and is redirected from the path of a case, a session or a proof to its page.`

/** The OpenAPI 3.1 document, generated from the schemas that validate requests. */
export function openApiDocument(
  endpoints: readonly EndpointSpec[],
  { build }: { build: Build },
): Json {
  const schemas = schemasOf({ ...schemasIn(endpoints), problem: problemDetails })
  const { json, components } = schemas
  const paths: Record<string, Json> = {}
  for (const each of endpoints) {
    const [method = '', path = ''] = each.route.replace(/:(\w+)/g, '{$1}').split(' ')
    const place = { method: method as Method, path }
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(place, each, schemas) }
  }
  const headers = Object.keys(HEADERS).map((name) => {
    const { description, ...schema } = json(`header ${name}`)
    return [name, { description, schema }]
  })
  const responses = failures()
  const used = JSON.stringify([paths, responses])
  const examples = (Object.keys(ERRORS) as ErrorCode[])
    .filter((code) => used.includes(`"#/components/examples/${code}"`))
    .map((code) => [code, { summary: ERRORS[code].title, value: errorExample(code)! }])
  const streamed = (Object.keys(STREAMED) as Streamed[]).map((name) => [name, anyOfThem(name)])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Casefile',
      version: build.version,
      summary: 'Keeps the record of AI-assisted work',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The authors of Casefile' },
    },
    servers: [{ url: '/', description: 'This service' }],
    security: [],
    tags: Object.entries(TAGS)
      .filter(([name]) => endpoints.some(({ tag }) => tag === name))
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

/** Every schema of the document, by a unique name. */
function schemasIn(endpoints: readonly EndpointSpec[]): Record<string, z.ZodType> {
  const named = (kind: string, schemas: Iterable<[string, z.ZodType]>) =>
    [...schemas].map(([name, schema]) => [`${kind} ${name}`, schema])
  const ofEndpoints = endpoints.flatMap(({ id, params, query, headers, body, responses }) =>
    named(id, [
      ...Object.entries({ ...params, ...query, ...headers, ...(body ? { body } : {}) }),
      ...Object.entries(responses).flatMap(([status, response]): [string, z.ZodType][] =>
        response?.json ? [[status, response.json]] : [],
      ),
    ]),
  )
  return Object.fromEntries([
    ...ofEndpoints,
    ...named('header', Object.entries(HEADERS)),
    ...named('delivery', Object.entries(DELIVERY_HEADERS)),
    ...named('event', EVENT_SCHEMAS),
  ])
}
