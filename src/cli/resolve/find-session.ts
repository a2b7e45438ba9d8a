import type { ApiReader } from '../../client/client.ts'
import { allOf } from '../../client/pages.ts'
import type { SessionHeadJson, SessionJson } from '../../http/schemas/session.ts'
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
  options: { waiting?: boolean } = {},
): Promise<SessionJson> {
  const head = await resolveSessionHead(client, caseId, word, options)
  return (await client.request('GET', sessionPath(head))).body
}

/** The same without its texts. */
export async function resolveSessionHead(
  client: ApiReader,
  caseId: string,
  word: string | undefined,
  { waiting = false } = {},
): Promise<SessionHeadJson> {
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

/** The sessions of a case without their texts, newest first. */
export async function sessionsOf(client: ApiReader, caseId: string): Promise<SessionHeadJson[]> {
  const path = `/cases/${caseId}/sessions?content=false`
  const sessions = await allOf<SessionHeadJson>(client, path)
  return sessions.sort((a, b) => b.number - a.number)
}

export function sessionPath({ case_id, id }: Pick<SessionJson, 'case_id' | 'id'>): string {
  return `/cases/${case_id}/sessions/${id}`
}

function unknown(message: string): AppError {
  return exiting(EXIT.unknown, new AppError('not_found', message))
}
