/** What a page shows of a difference, wherever it comes from. */

export interface DiffLine {
  kind: ' ' | '+' | '-'
  text: string
  /** 1-based line in the text before; null for an added one. */
  old: number | null
  /** 1-based line in the text after; null for a removed one. */
  new: number | null
  /** The line again in pieces, where it is known which of them changed. */
  parts?: DiffPart[]
  /** It is the last of its text, and has no line end. */
  noNewline?: boolean
}

export interface DiffPart {
  text: string
  changed: boolean
}

export interface DiffHunk {
  /** As in `@@ -1,3 +1,4 @@ function main()`. */
  header: string
  lines: DiffLine[]
}

export interface FileDiff {
  file: string
  /** The old name of a renamed file. */
  from: string | null
  status: 'changed' | 'new' | 'deleted' | 'renamed'
  binary: boolean
  additions: number
  deletions: number
  hunks: DiffHunk[]
  /** How many more lines its hunks have, where it is too large to keep them all. */
  unread?: number
  /** What else is to say, as that its mode changed or that a part of it could not be read. */
  notes: string[]
}

/**
 * Pure. Numbers the lines of a hunk, given as in a patch: each with its sign, and `\` for a missing
 * line end. A line without a sign is counted in `strange`, and left out.
 */
export function numberedLines(
  lines: readonly string[],
  start: { old: number; new: number },
): { lines: DiffLine[]; strange: number } {
  const numbered: DiffLine[] = []
  let before = start.old
  let after = start.new
  let strange = 0
  for (const line of lines) {
    const text = line.slice(1)
    if (line[0] === '+') numbered.push({ kind: '+', text, old: null, new: after++ })
    else if (line[0] === '-') numbered.push({ kind: '-', text, old: before++, new: null })
    else if (line[0] === ' ') numbered.push({ kind: ' ', text, old: before++, new: after++ })
    else if (line[0] === '\\' && numbered.length > 0) numbered.at(-1)!.noNewline = true
    else strange++
  }
  return { lines: numbered, strange }
}

/** Pure. */
export function countLines(hunks: readonly DiffHunk[]): { additions: number; deletions: number } {
  let additions = 0
  let deletions = 0
  for (const { lines } of hunks) {
    for (const { kind } of lines) {
      if (kind === '+') additions++
      if (kind === '-') deletions++
    }
  }
  return { additions, deletions }
}
