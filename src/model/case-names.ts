/** The cases that a word can mean: those with exactly this title, else by the start of the id or a part of the title. */
export function casesNamed<T extends { id: string; title: string }>(
  cases: readonly T[],
  word: string,
): T[] {
  const wanted = word.trim().toLowerCase()
  if (wanted === '') return []
  const exact = cases.filter(({ title }) => title.toLowerCase() === wanted)
  if (exact.length > 0) return exact
  return cases.filter(
    ({ id, title }) => id.startsWith(wanted) || title.toLowerCase().includes(wanted),
  )
}
