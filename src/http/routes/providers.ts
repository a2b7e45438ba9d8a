import * as z from 'zod'
import type { ServiceContext } from '../context.ts'
import { type EndpointDeps, endpoint } from '../endpoint.ts'
import { answerJson } from '../json-body.ts'
import { logFault, problemJson } from '../problem-json.ts'
import { providerParam } from '../schemas/params.ts'
import {
  type ProviderJson,
  type ProviderResultJson,
  promptSchema,
  provider,
  providerResult,
} from '../schemas/system.ts'
import { type EventStream, openEventStream } from '../sse/event-stream.ts'

export const providerEndpoints = [
  endpoint({
    route: 'GET /providers',
    id: 'listProviders',
    tag: 'Providers',
    summary: 'List the providers',
    description:
      'Returns which are installed, which are trusted, and what keeps each from writing while it plans.',
    isDev: true,
    responses: { 200: { description: 'The providers.', json: z.array(provider) } },
    handle: async ({ c, service }) =>
      answerJson<readonly ProviderJson[]>(c, await service.providers.statuses()),
  }),

  endpoint({
    route: 'POST /providers/:id/run',
    id: 'runProvider',
    tag: 'Providers',
    summary: 'Send a prompt to a provider',
    description:
      'The provider plans in an empty folder, without a case. With `Accept: text/event-stream`, the response streams its output. The run ends if the client disconnects.',
    isDev: true,
    params: { id: providerParam },
    body: promptSchema,
    responses: {
      200: {
        description: 'The result; or `output` events, then one `result` or `error` event.',
        json: providerResult,
        events: null,
      },
    },
    errors: [
      'unknown_provider',
      'already_active',
      'provider_unavailable',
      'untrusted_provider',
      'provider_failed',
    ],
    operatorOnly: 'run provider',
    handle({ c, service, params: { id }, body: { prompt } }) {
      const isStream = /\btext\/event-stream\b/i.test(c.req.header('accept') ?? '')
      return (isStream ? streamed : whole)({ c, service }, id, prompt)
    },
  }),
]

interface Run {
  c: ServiceContext
  service: EndpointDeps
}

async function whole(
  { c, service: { providers } }: Run,
  id: string,
  prompt: string,
): Promise<Response> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  c.env?.outgoing?.once('close', leave)
  try {
    const { result } = await providers.begin(id, prompt, { signal: gone.signal, onOutput() {} })
    return answerJson<ProviderResultJson>(c, await result)
  } finally {
    c.env?.outgoing?.off('close', leave)
  }
}

/** If the provider cannot run, the response is an error and no stream. */
async function streamed({ c, service }: Run, id: string, prompt: string): Promise<Response> {
  const { providers, streams: registry } = service
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
