/** The known name that a misspelt one probably stands for: it differs by the fewest letters, and by few. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const distances = known.map((each) => [distance(name.toLowerCase(), each), each] as const)
  const [letters, nearest] = distances.sort(([a], [b]) => a - b)[0] ?? [Infinity, null]
  return letters <= Math.max(1, Math.floor(name.length / 2)) ? nearest : null
}

/** The Levenshtein distance. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...from.slice(0, 40)].entries()) {
    const next = [at + 1]
    for (let index = 0; index < to.length; index++) {
      const replaced = row[index]! + (letter === to[index] ? 0 : 1)
      next.push(Math.min(replaced, row[index + 1]! + 1, next[index]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
