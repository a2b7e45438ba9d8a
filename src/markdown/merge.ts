import { diff3MergeRegions } from 'node-diff3'

/** Two changed versions of a text, and their common base. */
export interface Versions {
  base: string
  ours: string
  theirs: string
}

/**
 * Merges both changes by lines; null if they conflict. Every line is exactly as in one of the versions, with its line
 * ending.
 */
export function mergeLines(versions: Versions, split = piecesOf): string | null {
  const chosen = choose(versions)
  if (chosen !== null) return chosen
  const all = [versions.base, versions.ours, versions.theirs].map(split) as [
    string[],
    string[],
    string[],
  ]
  const head = common(all, (pieces, index) => pieces[index])
  const rest = all.map((pieces) => pieces.slice(head)) as typeof all
  const tail = common(rest, (pieces, index) => pieces.at(-1 - index))
  const [base, ours, theirs] = rest.map((pieces) =>
    pieces.slice(0, pieces.length - tail),
  ) as typeof all
  if (effort(base, ours) + effort(base, theirs) > MAX_EFFORT) return null
  const merged = all[0].slice(0, head)
  for (const region of diff3MergeRegions(ours, base, theirs)) {
    if (!region.stable) {
      const [a, b] = [region.aContent.join(''), region.bContent.join('')]
      if (a !== b) return null
      merged.push(a)
    } else merged.push(region.bufferContent.join(''))
  }
  return merged.join('') + all[0].slice(all[0].length - tail).join('')
}

/** The same, but a blank line keeps two changes apart, as in git. For texts without many blank lines. */
export function mergeParagraphs(versions: Versions): string | null {
  return mergeLines(versions, (text) => text.match(/[^\n]+\n?|\n/g) ?? [])
}

/**
 * Whether `ours` already contains the change of `theirs`, anywhere: added lines occur at least as often as in theirs,
 * removed lines at most as often. Blank lines do not count.
 */
export function hasChange({ base, ours, theirs }: Versions): boolean {
  const [before, present, saved] = [countsIn(base), countsIn(ours), countsIn(theirs)]
  const lines = [...new Set([...before.keys(), ...saved.keys()])]
  const changed = lines.filter((line) => before.get(line) !== saved.get(line))
  const isIncluded = (line: string) => {
    const [was = 0, is = 0, wanted = 0] = [before.get(line), present.get(line), saved.get(line)]
    return wanted > was ? is >= wanted : is <= wanted
  }
  return changed.length > 0 && changed.every(isIncluded)
}

/** Returns the value that only one side changed, or both to the same; null if they differ. */
export function choose<T>({ base, ours, theirs }: { base: T; ours: T; theirs: T }): T | null {
  if (theirs === base || theirs === ours) return ours
  return ours === base ? theirs : null
}

/**
 * Splits into lines, each with the blank lines below it: many equal blank lines would make the diff take cubic time
 * (32 s for 5,000 lines).
 */
function piecesOf(text: string): string[] {
  return text.match(/[^\n]+(?:\n(?:[ \t]*\r?\n)*)?|\n(?:[ \t]*\r?\n)*/g) ?? []
}

function common(
  all: readonly string[][],
  at: (pieces: string[], index: number) => string | undefined,
): number {
  const shortest = Math.min(...all.map((pieces) => pieces.length))
  const [first = [], ...others] = all
  let count = 0
  while (count < shortest && others.every((pieces) => at(pieces, count) === at(first, count)))
    count++
  return count
}

/** About 0.1 s. */
const MAX_EFFORT = 1e8

/** Estimates the steps of a diff. */
function effort(a: readonly string[], b: readonly string[]): number {
  const counts = countsOf(a)
  const pairs = b.reduce((sum, piece) => sum + (counts.get(piece) ?? 0), 0)
  return pairs * Math.min(a.length, b.length)
}

function countsIn(text: string): Map<string, number> {
  return countsOf(text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== ''))
}

function countsOf(pieces: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const piece of pieces) counts.set(piece, (counts.get(piece) ?? 0) + 1)
  return counts
}
