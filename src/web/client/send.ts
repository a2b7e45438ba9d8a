/** The answer of the service; of an error its problem+json. */
export type Sent =
  | { ok: true; status: number; body: Record<string, unknown>; etag: string | null }
  | { ok: false; status: number; problem: Problem }

export interface Problem {
  code: string
  detail: string
  errors?: { path: string; message: string }[]
  [more: string]: unknown
}

/** Ending an agent that ignores the signal takes longest. */
const TIMEOUT_MS = 60_000

/** Sends JSON, a picture (a Blob with its type), or nothing, to the service. Never rejects: an unreachable service is a problem too. */
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
        ...(body === undefined ? {} : { 'content-type': typeOf(body) }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return await readResponse(response)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return { ok: false, status: 0, problem: LATE }
    return { ok: false, status: 0, problem: AWAY }
  }
}

function typeOf(body: unknown): string {
  return body instanceof Blob ? body.type : 'application/json'
}

/** Reads a response. Rejects if the connection breaks. */
export async function readResponse(response: Response): Promise<Sent> {
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

/** Null for a text that is not JSON, such as the error page of a proxy. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const AWAY: Problem = {
  code: 'unreachable',
  detail:
    "Casefile isn't responding, so nothing was changed. Check that it's running, then try again.",
}

const LATE: Problem = {
  code: 'unreachable',
  detail:
    'Casefile has not answered for a minute. It may still do this; the page will show it then.',
}
