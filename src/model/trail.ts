/** One line of a session's audit trail. `number` is the event's id. */
export interface TrailLine {
  number: number
  time: string
  event: string
  fields: Record<string, unknown>
}

export type NewTrailLine = Pick<TrailLine, 'event' | 'fields'>

/** Returns the next line number: the highest plus one, so that a removed line leaves a gap and no duplicate. */
export function nextTrailNumber(trail: readonly TrailLine[]): number {
  return trail.reduce((highest, line) => Math.max(highest, line.number), 0) + 1
}

export function numbered(
  trail: readonly TrailLine[],
  lines: readonly NewTrailLine[],
  time: string,
): TrailLine[] {
  const first = nextTrailNumber(trail)
  return lines.map((line, index) => ({ number: first + index, time, ...line }))
}

/** Returns the last line with this event. */
export function lastOf(trail: readonly TrailLine[], event: string): TrailLine | undefined {
  return trail.findLast((line) => line.event === event)
}

/**
 * Returns the hash over plan, output, diff and tests when the session completed. Older files have it in the line
 * `session_completed`.
 */
export function evidenceHashIn(trail: readonly TrailLine[]): unknown {
  const line = lastOf(trail, 'evidence_recorded') ?? lastOf(trail, 'session_completed')
  return line?.fields.evidence_sha256
}

/** No session adds more lines at once; a larger gap was written by a person. */
const MAX_LEAP = 10_000

/**
 * Returns the lines that count: those with ascending numbers, up to the seal. Lines that a person or process inserted
 * out of order are dropped. If a second trail begins, it is the real one: text in a section that looks like a trail
 * always comes before.
 */
export function trueLines(lines: readonly TrailLine[]): TrailLine[] {
  let counted: TrailLine[] = []
  let last = 0
  for (const line of lines) {
    if (line.number === 1 && line.event === 'session_created') {
      counted = []
      last = 0
    }
    if (line.number <= last || line.number > last + MAX_LEAP) continue
    counted.push(line)
    last = line.number
    if (line.event === 'session_sealed') break
  }
  return counted
}
