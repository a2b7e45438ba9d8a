import { createHash } from 'node:crypto'
import { nextTrailNumber, type TrailLine } from '../model/trail.ts'
import { lineEnding } from './lines.ts'
import { blankLine } from './sectioned.ts'
import { readTrail, TRAIL_HEADING, trailLineText } from './trail-lines.ts'

/**
 * The file with lines appended to its trail. `known` are the lines that must stand there already:
 * where a person's save removed or changed any, they are put back (design §2).
 */
export function withTrail(
  text: string,
  known: readonly TrailLine[],
  lines: readonly TrailLine[],
): string {
  const eol = lineEnding(text)
  const part = readTrail(text)
  const written = (trail: readonly TrailLine[]) =>
    trail.map((line) => trailLineText(line) + eol).join('')
  if (!part) {
    if (known.length + lines.length === 0) return text
    return `${text}${blankLine(text, eol)}## ${TRAIL_HEADING}${eol}${eol}${written([...known, ...lines])}`
  }
  const first = part.lines[0]!
  const last = part.lines.at(-1)!
  const asKnown = JSON.stringify(part.lines.map((each) => each.line)) === JSON.stringify(known)
  const head = asKnown ? text.slice(0, last.next) : text.slice(0, first.start) + written(known)
  const gap = /[\r\n]$/.test(head) ? '' : eol
  return head + gap + written(lines) + text.slice(last.next)
}

/** The file with the line that ends it: a seal over every byte before. */
export function withSeal(text: string, time: string): string {
  const trail = readTrail(text)?.lines.map((each) => each.line) ?? []
  const eol = lineEnding(text)
  const body = /[\r\n]$/.test(text) ? text : text + eol
  const hash = createHash('sha256').update(body).digest('hex')
  const seal = {
    number: nextTrailNumber(trail),
    time,
    event: 'session_sealed',
    fields: { sha256: hash },
  }
  return body + trailLineText(seal) + eol
}
