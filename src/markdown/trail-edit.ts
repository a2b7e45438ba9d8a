import { hash } from 'node:crypto'
import { evidenceHashIn, type LineWith, nextTrailNumber, type TrailLine } from '../model/trail.ts'
import { type LineEnding, lineEnding, linesOf } from './lines.ts'
import { gapAtEnd } from './sections.ts'
import { readTrail, TRAIL_HEADING, type TrailPart, trailLineText } from './trail.ts'

/**
 * Appends lines to the audit trail. `known` are the lines that must be there already; those that a person removed or
 * changed are restored. Other text among the lines stays.
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
    return `${text}${gapAtEnd(text, eol)}## ${TRAIL_HEADING}${eol}${eol}${written([...known, ...lines])}`
  }
  const head = restored(text, part, known, eol)
  const gap = /[\r\n]$/.test(head) ? '' : eol
  return head + gap + written(lines) + withoutBroken(text.slice(part.lines.at(-1)!.next))
}

/** Returns the text up to the trail's last line, with exactly the known lines in it. */
function restored(
  text: string,
  part: TrailPart,
  known: readonly TrailLine[],
  eol: LineEnding,
): string {
  const wanted = known.map(trailLineText)
  const headed = text.startsWith(`## ${TRAIL_HEADING}`, part.start)
  const pieces = headed ? [] : [`## ${TRAIL_HEADING}${eol}${eol}`]
  let at = part.start
  let next = 0
  const put = (until: number) => {
    for (; next < until; next++) {
      if (pieces.length > 0 && !/[\r\n]$/.test(pieces.at(-1)!)) pieces.push(eol)
      pieces.push(wanted[next]! + eol)
    }
  }
  for (const each of part.lines) {
    const between = withoutBroken(text.slice(at, each.start))
    if (between !== '') pieces.push(between)
    at = each.next
    const found = wanted.indexOf(trailLineText(each.line), next)
    if (found < 0) continue
    put(found)
    pieces.push(text.slice(each.start, each.next))
    next++
  }
  put(wanted.length)
  return text.slice(0, part.start) + pieces.join('')
}

const BROKEN = /^\d{1,9}\. \d{4}-\d\d-\d\dT/

/** Removes a line that was an audit line before a person changed it, as the original is restored. */
function withoutBroken(text: string): string {
  return [...linesOf(text)]
    .filter((line) => !BROKEN.test(line.text))
    .map((line) => text.slice(line.start, line.next))
    .join('')
}

/** Adds the seal, the last line, over every byte before it; for a completed session with the hash of its evidence. */
export function withSeal(text: string, time: string): string {
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
