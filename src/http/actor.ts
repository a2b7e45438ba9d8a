import { MAX_WHO, oneLine } from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import { type Actor, isPlace, PLACES } from '../model/history.ts'
import type { ServiceContext } from './context.ts'
import type { HttpDeps } from './deps.ts'

export const ACTOR_HEADER = 'casefile-actor'
export const CLIENT_HEADER = 'casefile-client'

/**
 * Who sends a request, and from where, for the history: what its headers say, else the operator by the API.
 * Refuses (`bad_request`) headers that say nothing usable.
 */
export async function actorOf(
  { operator }: Pick<HttpDeps, 'operator'>,
  c: ServiceContext,
): Promise<Actor> {
  const sent = c.req.header(ACTOR_HEADER)
  const from = c.req.header(CLIENT_HEADER) ?? 'api'
  if (!isPlace(from)) {
    throw wrongHeader('Casefile-Client', `expected one of ${PLACES.join(', ')}`)
  }
  const who = sent === undefined ? await operator() : nameOf(sent)
  return { who, from }
}

/** Header bytes come as Latin-1; a name is sent as UTF-8. */
function nameOf(sent: string): string {
  const bytes = Buffer.from(sent, 'latin1')
  const text = bytes.toString('utf8')
  const name = text.includes('\ufffd') ? sent.trim() : text.trim()
  if (name === '' || name.length > MAX_WHO || name !== oneLine(name)) {
    throw wrongHeader(
      'Casefile-Actor',
      `expected a name on one line, at most ${MAX_WHO} characters, without control characters`,
    )
  }
  return name
}

function wrongHeader(name: string, message: string): AppError {
  return new AppError('bad_request', `The header ${name} is not usable: ${message}.`, {
    errors: [{ path: name, message }],
  })
}
