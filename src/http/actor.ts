import { MAX_WHO } from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import { CLIENTS, isClient } from '../model/channels.ts'
import type { Actor } from '../model/history.ts'
import { oneLine } from '../model/one-line.ts'
import type { ServiceContext } from './context.ts'
import type { HttpDeps } from './deps.ts'

export const ACTOR_HEADER = 'casefile-actor'
export const CLIENT_HEADER = 'casefile-client'

/**
 * Who sends a request, and with which program, for the history: from its headers, by default the operator with the
 * API. Throws `bad_request` for invalid headers.
 */
export async function actorOf(
  { operator }: Pick<HttpDeps, 'operator'>,
  c: ServiceContext,
): Promise<Actor> {
  const sent = c.req.header(ACTOR_HEADER)
  const from = c.req.header(CLIENT_HEADER) ?? 'api'
  if (!isClient(from)) {
    throw wrongHeader('Casefile-Client', `expected one of ${CLIENTS.join(', ')}`)
  }
  const who = sent === undefined ? await operator() : nameOf(sent)
  return { who, from }
}

/** Node decodes headers as Latin-1; a name is sent as UTF-8. */
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
  return new AppError('bad_request', `The header ${name} is invalid: ${message}.`, {
    errors: [{ path: name, message }],
  })
}
