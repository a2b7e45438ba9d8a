import { Refusal } from '../model/refusal.ts'

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is the server's to say
  body: any
}

export interface ReceivedEvent {
  type: string
  /** The number of its line in the session's trail; empty for output and pings. */
  id: string
  payload: Record<string, unknown>
}

/** The demo talks to the service as any program would: by its address alone. */
export interface Client {
  url: string
  /** Refuses any answer of another status than the expected one, with what it said. */
  ask(method: string, path: string, body: unknown, expected: number): Promise<Answer>
  /** A session's stream from its first event, until the service ends it. */
  stream(path: string): AsyncGenerator<ReceivedEvent>
}

/** `body`: a string is sent as it is, anything else as JSON, undefined is none. */
export function createClient(url: string, signal: AbortSignal): Client {
  return {
    url,
    async ask(method, path, body, expected) {
      const isText = typeof body === 'string' || body === undefined
      const response = await fetch(url + path, {
        method,
        signal,
        ...(body === undefined ? {} : { body: isText ? (body as string) : JSON.stringify(body) }),
        ...(isText ? {} : { headers: { 'content-type': 'application/json' } }),
      })
      const answer: Answer = { status: response.status, body: await response.json() }
      if (answer.status === expected) return answer
      const said = answer.body.detail ?? JSON.stringify(answer.body)
      throw new Refusal(
        'internal',
        `${method} ${path} answered ${answer.status} in place of ${expected}: ${said}`,
      )
    },
    async *stream(path) {
      const response = await fetch(url + path, { signal })
      if (!response.ok || response.body === null) {
        throw new Refusal('internal', `GET ${path} answered ${response.status}.`)
      }
      let rest = ''
      const decoder = new TextDecoder()
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
        rest = blocks.pop()!
        for (const event of blocks.map(readEvent)) {
          if (event !== null && event.type !== 'ping') yield event
        }
      }
    },
  }
}

/** One block of the stream; null where it holds no data. */
function readEvent(block: string): ReceivedEvent | null {
  const field = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2))
      .join('\n')
  const data = field('data')
  if (data === '') return null
  return { type: field('event'), id: field('id'), payload: JSON.parse(data).payload }
}
