import { diffWordsWithSpace, structuredPatch } from 'diff'
import { countLines, type DiffHunk, type DiffLine, type DiffPart, numberedLines } from './shape.ts'

export interface TextDiff {
  /** Empty if the texts are equal. */
  hunks: DiffHunk[]
  additions: number
  deletions: number
}

/** `timeoutMs`: the limit for comparing lines, and again for comparing the words in them. */
export interface DiffLimits {
  maxCharacters: number
  maxEdits: number
  timeoutMs: number
}

const LIMITS: DiffLimits = { maxCharacters: 1024 * 1024, maxEdits: 4000, timeoutMs: 150 }
const MAX_LINE_FOR_WORDS = 4000
const MAX_WORD_EDITS = 200

/**
 * Pure. The changes between two texts, with 3 lines around each, and the changed words of a replaced line. Null if the
 * texts are too large or too different to compare within the limits.
 */
export function diffTexts(
  before: string,
  after: string,
  limits: Partial<DiffLimits> = {},
): TextDiff | null {
  const { maxCharacters, maxEdits, timeoutMs } = { ...LIMITS, ...limits }
  if (before.length + after.length > maxCharacters) return null
  const options = { context: 3, maxEditLength: maxEdits, timeout: timeoutMs }
  const patch = structuredPatch('', '', before, after, undefined, undefined, options)
  if (!patch) return null
  const hunks = patch.hunks.map((hunk): DiffHunk => {
    const { oldStart, oldLines, newStart, newLines } = hunk
    const { lines } = numberedLines(hunk.lines, { old: oldStart, new: newStart })
    return { header: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, lines }
  })
  markWords(hunks, timeoutMs)
  return { hunks, ...countLines(hunks) }
}

/** Marks the changed words of each removed line and of the added line that replaces it, until the time is over. */
export function markWords(hunks: readonly DiffHunk[], timeoutMs = LIMITS.timeoutMs): void {
  const deadline = Date.now() + timeoutMs
  for (const hunk of hunks) markWordsOf(hunk.lines, deadline)
}

function markWordsOf(lines: readonly DiffLine[], deadline: number): void {
  let at = 0
  while (at < lines.length) {
    const removed = linesFrom(lines, at, '-')
    const added = linesFrom(lines, at + removed.length, '+')
    removed.forEach((line, index) => {
      const other = added[index]
      if (other) markPair(line, other, deadline)
    })
    at += removed.length + added.length || 1
  }
}

function linesFrom(lines: readonly DiffLine[], start: number, kind: '+' | '-'): DiffLine[] {
  let end = start
  while (lines[end]?.kind === kind) end++
  return lines.slice(start, end)
}

function markPair(removed: DiffLine, added: DiffLine, deadline: number): void {
  const left = deadline - Date.now()
  if (left <= 0 || Math.max(removed.text.length, added.text.length) > MAX_LINE_FOR_WORDS) return
  const options = { maxEditLength: MAX_WORD_EDITS, timeout: left }
  const changes = diffWordsWithSpace(removed.text, added.text, options)
  if (!changes) return
  const before = changes.filter((change) => !change.added)
  const after = changes.filter((change) => !change.removed)
  const kept = before.reduce(
    (sum, { value, removed }) => sum + (removed ? 0 : value.trim().length),
    0,
  )
  // when lines have little in common, marks on nearly every word make them harder to read
  if (kept * 3 < Math.max(removed.text.trim().length, added.text.trim().length)) return
  const part = (value: string, changed: boolean): DiffPart => ({ text: value, changed })
  removed.parts = before.map(({ value, removed }) => part(value, removed))
  added.parts = after.map(({ value, added }) => part(value, added))
}
