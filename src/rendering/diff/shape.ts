import type { Token } from '../highlight/tokens.ts'

/** A diff as a page shows it. */

export interface DiffLine {
  kind: ' ' | '+' | '-'
  text: string
  /** 1-based line number in the old text; null for an added line. */
  old: number | null
  /** 1-based line number in the new text; null for a removed line. */
  new: number | null
  /** The line in pieces, if it is known which of them changed. */
  parts?: DiffPart[]
  /** The line in colours, with hidden characters made visible. */
  tokens?: readonly Token[]
  /** The last line of its text, without a line end. */
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
  /** Short and unique among the files of a patch, for anchors; made of the name. */
  id: string
  /** The old name of a renamed file. */
  from: string | null
  status: 'changed' | 'new' | 'deleted' | 'renamed'
  binary: boolean
  additions: number
  deletions: number
  hunks: DiffHunk[]
  /** How many more lines its hunks have, if the file is too large to keep all. */
  unread?: number
  /** Other notes, such as that the mode changed or that a part could not be read. */
  notes: string[]
}

/**
 * Pure. Numbers the lines of a hunk, which begin with their sign as in a patch; `\` marks a missing line end. A line
 * without a sign is left out and counted in `strange`.
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
