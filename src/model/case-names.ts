/**
 * Finds the cases that a user's word refers to: those with exactly this title, else those whose id starts with it or
 * whose title contains it.
 */
export function findCasesByName<T extends { id: string; title: string }>(
  cases: readonly T[],
  word: string,
): T[] {
  const needle = word.trim().toLowerCase()
  if (needle === '') return []
  const exact = cases.filter(({ title }) => title.toLowerCase() === needle)
  if (exact.length > 0) return exact
  return cases.filter(
    ({ id, title }) => id.startsWith(needle) || title.toLowerCase().includes(needle),
  )
}
