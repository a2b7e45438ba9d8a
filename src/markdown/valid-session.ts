import { isBreaking } from '../model/problem.ts'
import type { Session } from '../model/session.ts'
import { derivedId, readSession } from './session-file.ts'
import { readSessionTexts } from './session-texts.ts'

/**
 * Parses a session text that has its own id and is unchanged since it was written; else returns the reason. A
 * sealed session that was edited must not be renumbered and sealed again, because that would hide the edit.
 */
export async function validSession(
  text: string,
  case_id: string,
  number: number,
): Promise<Session | { reason: string }> {
  const origin = { case_id, number, case_title: '', created_at: new Date(0).toISOString() }
  const { value, problems } = readSession(text, origin)
  if (!value) return { reason: problems.find(isBreaking)?.message ?? 'it is unreadable' }
  if (value.id === derivedId(origin)) return { reason: 'it has no id' }
  const texts = await readSessionTexts(text, value)
  const wrong = [...problems, ...texts.problems].find(
    ({ code }) => code === 'session_changed' || code === 'too_complex',
  )
  return wrong ? { reason: wrong.message } : value
}
