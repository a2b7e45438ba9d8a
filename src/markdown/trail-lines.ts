import type { TrailLine } from '../model/trail.ts'
import { linesOf, lineWalk } from './lines.ts'
import { readTrailLine } from './trail-line.ts'

export const TRAIL_HEADING = 'Audit trail'

/** Offset of the trail's heading, and its lines with offsets; null without a trail. */
export interface TrailPart {
  start: number
  lines: { line: TrailLine; start: number; next: number }[]
}

/**
 * Splits off the audit trail: the last `## Audit trail` with an audit line below it, and all audit lines from there
 * to the end. It needs no parser, so edits above cannot make the journal unreadable. As it comes last, section text
 * cannot be mistaken for it.
 */
export function readTrail(text: string): TrailPart | null {
  let to = text.length
  for (let start = headingBefore(text, to); start >= 0; start = headingBefore(text, start)) {
    const lines = linesBetween(text, start, to)
    if (lines.length > 0) return { start, lines }
    to = start
  }
  return lastLines(text)
}

/** Returns the audit lines at the end of a file whose heading was removed or changed. */
function lastLines(text: string): TrailPart | null {
  const end = text.trimEnd()
  const last = Math.max(end.lastIndexOf('\n'), end.lastIndexOf('\r')) + 1
  if (!readTrailLine(end.slice(last))) return null
  let lines: TrailPart['lines'] = []
  for (const { text: source, start, next } of linesOf(text)) {
    const line = readTrailLine(source)
    if (line) lines.push({ line, start, next })
    else if (source.trim() !== '') lines = []
  }
  return { start: lines[0]!.start, lines }
}

const HEADING = `## ${TRAIL_HEADING}`

/** Returns the offset of the last trail heading before `before`; -1 without one. */
function headingBefore(text: string, before: number): number {
  let start = before === 0 ? -1 : text.lastIndexOf(HEADING, before - 1)
  while (start >= 0) {
    const whole = /^[ \t]*(?:[\r\n]|$)/.test(text.slice(start + HEADING.length, start + 200))
    if (whole && (start === 0 || /[\r\n]/.test(text[start - 1]!))) return start
    start = start === 0 ? -1 : text.lastIndexOf(HEADING, start - 1)
  }
  return -1
}

function linesBetween(text: string, from: number, to: number): TrailPart['lines'] {
  const lines: TrailPart['lines'] = []
  const walk = lineWalk(text, from, to)
  while (walk.move()) {
    const line = readTrailLine(text, walk.start, walk.end)
    if (line) lines.push({ line, start: walk.start, next: walk.next })
  }
  return lines
}
