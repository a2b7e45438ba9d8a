import type { Problem } from '../model/problem.ts'
import type { Session } from '../model/session.ts'

/**
 * A session keeps the id by which it is known while its trail begins with the same line: trails of older versions do
 * not name it. A trail that begins otherwise is that of another session, which a branch may have under this number.
 */
export function withKnownId(
  read: { value: Session | null; problems: Problem[] },
  known: Session | null | undefined,
): { value: Session | null; problems: Problem[] } {
  const { value, problems } = read
  const first = JSON.stringify(known?.trail[0])
  if (!value || !known || value.id === known.id) return read
  if (first === undefined || first !== JSON.stringify(value.trail[0])) return read
  const message = `id: ${value.id} was written by hand; it does not count, as the session is known as ${known.id}`
  const problem = { code: 'field_by_hand' as const, file: `sessions/${value.number}.md` }
  return {
    value: { ...value, id: known.id },
    problems: [...problems, { ...problem, line: null, message }],
  }
}
