import type { ApiReader } from '../../client/client.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { AppError } from '../../model/app-error.ts'
import { EXIT, exiting } from '../output/exit-codes.ts'

/**
 * The session that a word names: its number, its id or the start of it, or `latest`. A few digits are a number. Without a word the newest; with
 * `waiting`, the newest that waits for approval if there is one.
 */
export async function resolveSession(
  client: ApiReader,
  caseId: string,
  word: string | undefined,
  { waiting = false } = {},
): Promise<SessionJson> {
  const sessions = await sessionsOf(client, caseId)
  const [newest] = sessions
  if (!newest) {
    throw unknown(
      `The case has no session yet. Start one with: casefile start ${caseId.slice(0, 8)}`,
    )
  }
  if (word === undefined) {
    const first = waiting ? sessions.find(({ state }) => state === 'plan_ready') : undefined
    return first ?? newest
  }
  if (word === 'latest') return newest
  const numbered = sessions.find(({ number }) => String(number) === word)
  if (numbered) return numbered
  const isNumber = /^\d{1,5}$/.test(word)
  const fitting = isNumber ? [] : sessions.filter(({ id }) => id.startsWith(word.toLowerCase()))
  if (fitting.length === 1) return fitting[0]!
  const all = sessions.map(({ number, state }) => `${number} (${state})`).join(', ')
  throw unknown(
    fitting.length === 0
      ? `The case has no session ${JSON.stringify(word)}. It has: ${all}. Name a session by its number, its id, or latest.`
      : `${JSON.stringify(word)} matches several sessions: ${fitting.map(({ number }) => number).join(', ')}. Name one by its number.`,
  )
}

/** The sessions of a case, newest first. */
export async function sessionsOf(client: ApiReader, caseId: string): Promise<SessionJson[]> {
  const { body } = await client.request('GET', `/cases/${caseId}/sessions`)
  return (body as SessionJson[]).sort((a, b) => b.number - a.number)
}

export function sessionPath({ case_id, id }: Pick<SessionJson, 'case_id' | 'id'>): string {
  return `/cases/${case_id}/sessions/${id}`
}

function unknown(message: string): AppError {
  return exiting(EXIT.unknown, new AppError('not_found', message))
}
