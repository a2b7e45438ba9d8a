import { hash } from 'node:crypto'
import { evidenceHashIn, type LineWith, nextTrailNumber, type TrailLine } from '../model/trail.ts'
import { type LineEnding, lineEnding, linesOf } from './lines.ts'
import { gapAtEnd } from './sections.ts'
import { headingBefore, readTrail, TRAIL_HEADING, type TrailPart, trailLineText } from './trail.ts'

/**
 * Appends lines to the audit trail. `known` are the lines that must be there already; those that a person removed or
 * changed are restored. Other text among the lines stays.
 */
export function appendTrail(
  text: string,
  known: readonly TrailLine[],
  lines: readonly TrailLine[],
): string {
  const eol = lineEnding(text)
  const part = readTrail(text)
  const linesText = (trail: readonly TrailLine[]) =>
    trail.map((line) => trailLineText(line) + eol).join('')
  if (!part) {
    if (known.length + lines.length === 0) return text
    const body = withoutEmptyTrail(text)
    return `${body}${gapAtEnd(body, eol)}## ${TRAIL_HEADING}${eol}${eol}${linesText([...known, ...lines])}`
  }
  const head = restoreTrail(text, part, known, eol)
  const gap = /[\r\n]$/.test(head) ? '' : eol
  return head + gap + linesText(lines) + removeChangedLines(text.slice(part.lines.at(-1)!.next))
}

/** Removes the heading at the end of a file whose audit lines a person removed or changed. */
function withoutEmptyTrail(text: string): string {
  const start = headingBefore(text, text.length)
  const isEmpty =
    start >= 0 && removeChangedLines(text.slice(start)).trim() === `## ${TRAIL_HEADING}`
  return isEmpty ? text.slice(0, start) : text
}

/** Returns the text up to the trail's last line, after restoring known lines and removing others. */
function restoreTrail(
  text: string,
  part: TrailPart,
  known: readonly TrailLine[],
  eol: LineEnding,
): string {
  const knownTexts = known.map(trailLineText)
  const hasHeading = text.startsWith(`## ${TRAIL_HEADING}`, part.start)
  const pieces = hasHeading ? [] : [`## ${TRAIL_HEADING}${eol}${eol}`]
  let at = part.start
  let next = 0
  const writeUntil = (until: number) => {
    for (; next < until; next++) {
      if (pieces.length > 0 && !/[\r\n]$/.test(pieces.at(-1)!)) pieces.push(eol)
      pieces.push(knownTexts[next]! + eol)
    }
  }
  for (const each of part.lines) {
    const between = removeChangedLines(text.slice(at, each.start))
    if (between !== '') pieces.push(between)
    at = each.next
    const found = knownTexts.indexOf(trailLineText(each.line), next)
    if (found < 0) continue
    writeUntil(found)
    pieces.push(text.slice(each.start, each.next))
    next++
  }
  writeUntil(knownTexts.length)
  return text.slice(0, part.start) + pieces.join('')
}

const TRAIL_LINE_START = /^\d{1,9}\. \d{4}-\d\d-\d\dT/

/** Removes lines that look like audit lines but no longer parse: a person changed them, and the originals are restored. */
function removeChangedLines(text: string): string {
  return [...linesOf(text)]
    .filter((line) => !TRAIL_LINE_START.test(line.text))
    .map((line) => text.slice(line.start, line.next))
    .join('')
}

/**
 * Appends the seal as the last line, with the hash of every byte before it; for a completed session also with the hash
 * of its evidence.
 */
export function appendSeal(text: string, time: string): string {
  const trail = readTrail(text)?.lines.map((each) => each.line) ?? []
  const evidence = evidenceHashIn(trail)
  const eol = lineEnding(text)
  const body = /[\r\n]$/.test(text) ? text : text + eol
  const seal: LineWith<'session_sealed'> = {
    number: nextTrailNumber(trail),
    time,
    event: 'session_sealed',
    fields: {
      sha256: hash('sha256', body),
      ...(evidence === undefined ? {} : { evidence_sha256: evidence }),
    },
  }
  return body + trailLineText(seal) + eol
}
