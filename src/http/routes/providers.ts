import { Hono } from 'hono'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { answerJson } from '../json-body.ts'
import { requireOperator } from '../middleware/require-operator.ts'
import { logFault, problemJson } from '../problem-json.ts'
import { readJson } from '../request-body.ts'
import { promptSchema } from '../schemas/case.ts'
import { type EventStream, openEventStream } from '../sse/event-stream.ts'
import type { StreamRegistry } from '../sse/stream-registry.ts'

/** `/providers` (specification §4.6), for `serve --dev`. A client that goes away ends its run. */
export function providerRoutes(service: HttpDeps, registry: StreamRegistry): Hono<ServiceEnv> {
  const { providers } = service
  const app = new Hono<ServiceEnv>()

  app.get('/', async (c) => answerJson(c, await providers.statuses()))

  app.post('/:id/run', requireOperator(service, 'run provider'), async (c) => {
    const { prompt } = await readJson(c, promptSchema)
    const id = c.req.param('id')
    const isStream = /\btext\/event-stream\b/i.test(c.req.header('accept') ?? '')
    return isStream ? streamed(c, id, prompt) : whole(c, id, prompt)
  })

  async function whole(c: ServiceContext, id: string, prompt: string): Promise<Response> {
    const gone = new AbortController()
    const leave = () => gone.abort()
    c.env?.outgoing?.once('close', leave)
    try {
      const { result } = await providers.begin(id, prompt, { signal: gone.signal, onOutput() {} })
      return answerJson(c, await result)
    } finally {
      c.env?.outgoing?.off('close', leave)
    }
  }

  /** What cannot be run is refused as an answer without a stream. */
  async function streamed(c: ServiceContext, id: string, prompt: string): Promise<Response> {
    const gone = new AbortController()
    let stream: EventStream | null = null
    const send = (event: string, payload: object) => {
      const envelope = { event_type: event, timestamp: service.now(), payload }
      stream?.send({ event, data: JSON.stringify(envelope) })
    }
    const { result } = await providers.begin(id, prompt, {
      signal: gone.signal,
      onOutput: (name, text) => send('output', { provider: id, stream: name, text }),
    })
    stream = openEventStream(c, { registry, onClose: () => gone.abort() })
    void result
      .then(
        (answer) => send('result', answer),
        (error: unknown) => {
          logFault(service.log, c.req, error)
          send('error', problemJson(error))
        },
      )
      .then(() => stream?.end())
    return stream.response
  }

  return app
}
