import { type DiffHunk, numberedLines } from './diff-shape.ts'
import { nextLine } from './patch-lines.ts'

interface HunkRead {
  hunk: DiffHunk
  /** Where the reading stopped. */
  end: number
  /** How many lines were read, with the header. */
  taken: number
  /** How many of them could not be read; null if none could, for want of line numbers. */
  strange: number | null
}

/** The hunk whose header is at `at`, with at most as many lines. */
export function readHunk(section: string, at: number, most: number): HunkRead {
  let end = nextLine(section, at)
  const header = lineAt(section, at, end)
  const raw: string[] = []
  while (end < section.length && raw.length < most && !section.startsWith('@@ ', end)) {
    const next = nextLine(section, end)
    raw.push(lineAt(section, end, next))
    end = next
  }
  const [, before, after] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(header) ?? []
  const taken = 1 + raw.length
  if (!before || !after) return { hunk: { header, lines: [] }, end, taken, strange: null }
  const start = { old: Number(before), new: Number(after) }
  const { lines, strange } = numberedLines(raw, start)
  return { hunk: { header, lines }, end, taken, strange }
}

function lineAt(section: string, from: number, to: number): string {
  return section.slice(from, section[to - 1] === '\n' ? to - 1 : to)
}
