import { derivedId, readSession } from '../markdown/session-file.ts'
import { readSessionTexts } from '../markdown/session-texts.ts'
import { isBreaking } from '../model/problem.ts'
import type { Session } from '../model/session.ts'

/**
 * The session that a text holds if it has an id of its own and is as it was left, else the reason. What
 * was changed under a seal must not get a new one, which would hide that.
 */
export async function validSession(
  text: string,
  case_id: string,
  number: number,
): Promise<Session | { reason: string }> {
  const origin = { case_id, number, case_title: '', created_at: new Date(0).toISOString() }
  const { value, problems } = readSession(text, origin)
  if (!value) return { reason: problems.find(isBreaking)?.message ?? 'it cannot be read' }
  if (value.id === derivedId(origin)) return { reason: 'it has no id' }
  const texts = await readSessionTexts(text, value)
  const wrong = [...problems, ...texts.problems].find(
    ({ code }) => code === 'session_changed' || code === 'too_complex',
  )
  return wrong ? { reason: wrong.message } : value
}
