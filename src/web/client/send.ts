/** An answer of the service: of a refusal, what problem+json says of it. */
export type Sent =
  | { ok: true; status: number; body: Record<string, unknown>; etag: string | null }
  | { ok: false; status: number; problem: Problem }

export interface Problem {
  code: string
  detail: string
  errors?: { path: string; message: string }[]
  [more: string]: unknown
}

/** The longest that the service takes by itself: to end an agent that does not want to. */
const PATIENCE_MS = 60_000

/** Sends JSON, or nothing, to the service. Never rejects: a service that is away is a problem too. */
export async function send(
  method: string,
  address: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Sent> {
  try {
    const response = await fetch(address, {
      method,
      cache: 'no-cache',
      headers: {
        'casefile-client': 'console',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    return await answerOf(response)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return { ok: false, status: 0, problem: LATE }
    return { ok: false, status: 0, problem: AWAY }
  }
}

/** What came, of a request that was made by hand. Rejects where the answer breaks off. */
export async function answerOf(response: Response): Promise<Sent> {
  const { status } = response
  const json = jsonOf(await response.text())
  if (response.ok) {
    const body = (json ?? {}) as Record<string, unknown>
    return { ok: true, status, body, etag: response.headers.get('etag') }
  }
  const problem = (json ?? {
    code: 'internal',
    detail: `The service answered ${status}.`,
  }) as Problem
  return { ok: false, status, problem }
}

/** Null for a text that is none, as of something between here and the service. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const AWAY: Problem = {
  code: 'unreachable',
  detail:
    'The service does not answer, and nothing was changed that it told of. Is it running? Try again.',
}

const LATE: Problem = {
  code: 'unreachable',
  detail:
    'The service has not answered for a minute. It may still do what you asked once it goes on: this page shows what came of it then.',
}
