/** Words, to be asked for by what they begin with. */
export interface SortedWords {
  /** All that begin so, the word itself too. */
  beginningWith(start: string): string[]
  /** Sorts what came since, so that no search waits for it. */
  sort(): void
}

/** So many that came since are looked at one by one. */
const FEW = 1000

/** `words` may grow at its end. */
export function createSortedWords(words: readonly string[]): SortedWords {
  let sorted: string[] = []

  /** Two lists that are sorted each are merged by the engine's sort, not sorted anew. */
  function sort(): void {
    if (sorted.length < words.length) {
      sorted = [...sorted, ...words.slice(sorted.length).sort()].sort()
    }
  }

  return {
    beginningWith(start) {
      if (words.length - sorted.length > FEW) sort()
      const found: string[] = []
      for (let at = firstFrom(sorted, start); sorted[at]?.startsWith(start); at++) {
        found.push(sorted[at]!)
      }
      for (let at = sorted.length; at < words.length; at++) {
        if (words[at]!.startsWith(start)) found.push(words[at]!)
      }
      return found
    },
    sort,
  }
}

/** Where the first stands that is not before `start`. */
function firstFrom(sorted: readonly string[], start: string): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < start) low = middle + 1
    else high = middle
  }
  return low
}
