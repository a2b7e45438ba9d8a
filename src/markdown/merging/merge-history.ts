import { compareMinutes } from '../../model/history.ts'
import { timedLine } from '../history-file.ts'
import { choose, type Versions } from '../merge.ts'
import { withLineEnd } from './merge-text.ts'

/** Lines that only theirs has, which belong together. */
interface Chunk {
  /** The time of the act that they begin with or follow; empty before the first. */
  time: string
  /** The line above them, unless they begin with an act. */
  below: string | null
  lines: string[]
}

/**
 * Merges a history.md: the lines of both sides, each once, in order of time. A line that one side removed is removed.
 * Our lines keep their order.
 */
export function mergeHistory(versions: Versions): string {
  const chosen = choose(versions)
  if (chosen !== null) return chosen
  const [base, ours, theirs] = [versions.base, versions.ours, versions.theirs].map(rawLines) as [
    string[],
    string[],
    string[],
  ]
  const merged = withoutRemoved(ours, counts(base), counts(theirs))
  for (const { time, below, lines } of newChunks(theirs, counts(base), counts(ours))) {
    const anchor = below === null ? -1 : merged.findLastIndex((line) => keyOf(line) === below)
    merged.splice(anchor >= 0 ? anchor + 1 : placeOf(merged, time), 0, ...lines)
  }
  return merged.reduceRight((rest, line) => withLineEnd(line, rest) + rest, '')
}

function rawLines(text: string): string[] {
  return text.match(/[^\n]+\n?|\n/g) ?? []
}

function keyOf(line: string): string {
  return line.replace(/^\ufeff/, '').trimEnd()
}

function counts(lines: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const key of lines.map(keyOf)) found.set(key, (found.get(key) ?? 0) + 1)
  return found
}

/** Removes the lines that theirs removed. */
function withoutRemoved(
  ours: readonly string[],
  base: ReadonlyMap<string, number>,
  theirs: ReadonlyMap<string, number>,
): string[] {
  const left = new Map<string, number>()
  for (const [key, was] of base) left.set(key, was - (theirs.get(key) ?? 0))
  return ours.filter((line) => {
    const key = keyOf(line)
    const removed = left.get(key) ?? 0
    if (key === '' || removed <= 0) return true
    left.set(key, removed - 1)
    return false
  })
}

function newChunks(
  theirs: readonly string[],
  base: ReadonlyMap<string, number>,
  ours: ReadonlyMap<string, number>,
): Chunk[] {
  const chunks: Chunk[] = []
  const seen = new Map<string, number>()
  let time = ''
  let above = ''
  let blanks: string[] = []
  let open: Chunk | null = null
  for (const line of theirs) {
    const key = keyOf(line)
    if (key === '') {
      blanks.push(line)
      continue
    }
    const act = timedLine(key)?.at
    time = act ?? time
    const nth = (seen.get(key) ?? 0) + 1
    seen.set(key, nth)
    // the text of a new act may be that of another one
    const isOfNew = open?.below === null && key.startsWith('  ')
    const isNew = isOfNew || (nth > (base.get(key) ?? 0) && nth > (ours.get(key) ?? 0))
    if (!isNew) open = null
    else if (open && act === undefined) open.lines.push(...blanks, line)
    else {
      const isAct = act !== undefined
      open = { time, below: isAct ? null : above, lines: isAct ? [line] : [...blanks, line] }
      chunks.push(open)
    }
    above = key
    blanks = []
  }
  return chunks
}

/** Returns the index behind all acts up to this time, searched from the end. */
function placeOf(lines: readonly string[], time: string): number {
  for (let index = lines.length, end = index; ; index--) {
    const act = index === 0 ? undefined : timedLine(keyOf(lines[index - 1]!))?.at
    if (index === 0 || (act !== undefined && compareMinutes(act, time) <= 0)) {
      // without an act up to this time: below the heading, above the first act
      const first = lines.findIndex((line) => timedLine(keyOf(line)) !== null)
      return index === 0 && first >= 0 ? first : end
    }
    if (act !== undefined) end = index - 1
  }
}
