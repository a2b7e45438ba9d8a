import { Hono } from 'hono'
import type { ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { jsonWithETag } from '../etag.ts'
import { healthOf } from '../health.ts'
import { answerJson, jsonBody } from '../json-body.ts'
import type { VersionJson } from '../serializers.ts'

/** `/health` and `/version` (specification §4.7), and what describes all of the API. */
export function systemRoutes(service: HttpDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  let description: string | undefined

  app.get('/health', async (c) => answerJson(c, await healthOf(service)))

  app.get('/version', (c) => {
    const { version, commit } = service.build
    const { startedAt: started_at } = service
    return answerJson(c, {
      version,
      commit,
      node: process.version,
      started_at,
    } satisfies VersionJson)
  })

  app.get('/openapi.json', async (c) => {
    if (description === undefined) {
      const { openApiDocument } = await import('../openapi/document.ts')
      description = jsonBody(openApiDocument(service))
    }
    return jsonWithETag(c, null, { json: description })
  })

  return app
}
