import { basename } from 'node:path'
import * as z from 'zod'
import type { HttpDeps } from '../deps.ts'
import { type Endpoint, endpoint, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { answerJson, jsonBody } from '../json-body.ts'
import { type HealthJson, health, type VersionJson, version } from '../schemas/system.ts'

/** The document of each app, generated at the first request. */
const documents = new WeakMap<readonly Endpoint[], string>()

export const systemEndpoints = [
  endpoint({
    route: 'GET /health',
    id: 'getHealth',
    tag: 'System',
    summary: 'Health check',
    description:
      'Says whether the service is ready, and whether it detects changes of files at once. `status` is `ok`, or `failing` while the disk rejects writes: `problems` has the cause and what to do.',
    responses: { 200: { description: 'The service is running.', json: health } },
    handle: async ({ c, service }) => answerJson(c, await readHealth(service)),
  }),

  endpoint({
    route: 'GET /version',
    id: 'getVersion',
    tag: 'System',
    summary: 'Get the version',
    description: 'Returns the versions of Casefile and of Node.js, and when the service started.',
    responses: { 200: { description: 'The version.', json: version } },
    handle: ({ c, service: { build, startedAt } }) =>
      answerJson<VersionJson>(c, {
        version: build.version,
        commit: build.commit,
        node: process.version,
        started_at: startedAt,
      }),
  }),

  endpoint({
    route: 'GET /openapi.json',
    id: 'getOpenApi',
    tag: 'System',
    summary: 'Get the OpenAPI document of this API',
    description:
      'Returns this document, which is generated from the schemas that validate requests.',
    responses: ok(
      z.looseObject({ openapi: z.string() }).meta({
        examples: [{ openapi: '3.1.0', info: { title: 'Casefile', version: '0.1.0' }, paths: {} }],
      }),
      'The OpenAPI document.',
    ),
    async handle({ c, service }) {
      const { endpoints } = service
      let json = documents.get(endpoints)
      if (json === undefined) {
        const { openApiDocument } = await import('../openapi/document.ts')
        json = jsonBody(openApiDocument(endpoints, service))
        documents.set(endpoints, json)
      }
      return jsonWithETag(c, null, { json })
    },
  }),
]

/** Reads known changes first, except while indexing. */
async function readHealth(service: HttpDeps): Promise<HealthJson> {
  const indexing = service.start.stage() === 'indexing'
  if (!indexing) await service.refresher.freshenAll('none')
  const { watching, trouble } = service.watching()
  const problems = await service.problems()
  return {
    status: problems.some(({ code }) => code === 'not_writable') ? 'failing' : 'ok',
    indexing,
    workspace: basename(service.layout.root),
    cases: service.catalog.size(),
    watching,
    ...(trouble ?? {}),
    webhooks: service.webhooks.summary(),
    problems,
    hooks_not_understood: service.conversations.notUnderstood.list(),
  }
}
