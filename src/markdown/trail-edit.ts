import { hash } from 'node:crypto'
import { type FileLine, nextTrailNumber, type TrailLine } from '../model/trail.ts'
import { linesOfEvents } from '../model/trail-lines.ts'
import { type LineEnding, lineEnding, linesOf } from './lines.ts'
import { gapAtEnd } from './sections.ts'
import {
  closingOf,
  headingBefore,
  isFoldStart,
  readTrail,
  TRAIL_CLOSING,
  TRAIL_HEADING,
  TRAIL_OPENING,
  type TrailPart,
  trailLineText,
} from './trail.ts'

/** Lines, or the events that they imply. */
type Line = TrailLine | FileLine

/**
 * Appends lines to the audit trail. `known` are the lines that must be there already; those that a person removed or
 * changed are restored. Other text among the lines stays.
 */
export function appendTrail(text: string, known: readonly Line[], lines: readonly Line[]): string {
  const eol = lineEnding(text)
  const part = readTrail(text)
  const linesText = (trail: readonly Line[]) =>
    linesOfEvents(trail)
      .map((line) => trailLineText(line) + eol)
      .join('')
  if (!part) {
    if (known.length + lines.length === 0) return text
    const body = withoutEmptyTrail(text)
    const all = linesText([...known, ...lines])
    return `${body}${gapAtEnd(body, eol)}${[`## ${TRAIL_HEADING}`, '', TRAIL_OPENING, '', all].join(eol)}${eol}${TRAIL_CLOSING}${eol}`
  }
  const restored = restoreTrail(text, part, linesOfEvents(known), eol)
  const isFolded = closingOf(text, part) !== ''
  const head = isFolded ? restored.trimEnd() : restored
  const gap = /[\r\n]$/.test(head) ? '' : eol
  const rest = removeChangedLines(text.slice(part.lines.at(-1)!.next))
  const end = isFolded ? `${/[\r\n]$/.test(rest) ? '' : eol}${TRAIL_CLOSING}${eol}` : ''
  return head + gap + linesText(lines) + rest + end
}

/** Removes the heading at the end of a file whose audit lines a person removed or changed. */
function withoutEmptyTrail(text: string): string {
  const start = headingBefore(text, text.length)
  const left = start < 0 ? '' : removeChangedLines(text.slice(start).replace(TRAIL_OPENING, ''))
  const isEmpty = left.trim() === `## ${TRAIL_HEADING}`
  return isEmpty ? text.slice(0, start) : text
}

/** Returns the text up to the trail's last line, after restoring known lines and removing others. */
function restoreTrail(
  text: string,
  part: TrailPart,
  known: readonly FileLine[],
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

/**
 * Removes lines that look like audit lines but no longer parse: a person changed them, and the originals are restored.
 * Also the end of the trail's fold, which comes after the last line. A fold that begins and ends in this text stays.
 */
function removeChangedLines(text: string): string {
  let folds = 0
  return [...linesOf(text)]
    .filter(({ text }) => {
      if (isFoldStart(text)) folds++
      const isOuterEnd = text.trim() === TRAIL_CLOSING && --folds < 0
      if (isOuterEnd) folds = 0
      return !TRAIL_LINE_START.test(text) && !isOuterEnd
    })
    .map((line) => text.slice(line.start, line.next))
    .join('')
}

/** Appends the seal as the last line, with the hash of every byte before it. Only the end of the fold follows. */
export function appendSeal(text: string, time: string): string {
  const part = readTrail(text)
  const eol = lineEnding(text)
  const closing = part ? closingOf(text, part) : ''
  const at = closing === '' ? -1 : text.lastIndexOf(closing)
  const whole =
    at < 0 ? text : text.slice(0, at).trimEnd() + text.slice(at + closing.length).trimEnd()
  const body = /[\r\n]$/.test(whole) ? whole : whole + eol
  const seal = {
    number: nextTrailNumber(part?.lines.map(({ line }) => line) ?? []),
    time,
    event: 'session_sealed',
    fields: { sha256: hash('sha256', body) },
  }
  const end = at < 0 ? '' : eol + closing + eol
  return body + trailLineText(seal) + eol + end
}
