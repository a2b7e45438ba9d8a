/** One action of a session, as its line in the audit trail says it. `number` is the event's id. */
export interface TrailLine {
  number: number
  time: string
  event: string
  fields: Record<string, unknown>
}

export type NewTrailLine = Pick<TrailLine, 'event' | 'fields'>

/** The next number: written, never counted, so that a removed line leaves a gap and no double. */
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

/** The last line of `trail` that names `event`. */
export function lastOf(trail: readonly TrailLine[], event: string): TrailLine | undefined {
  return trail.findLast((line) => line.event === event)
}

/**
 * The hash over plan, output, diff and tests as they were when the session completed. Older files have it in
 * the line `session_completed`.
 */
export function evidenceHashIn(trail: readonly TrailLine[]): unknown {
  const line = lastOf(trail, 'evidence_recorded') ?? lastOf(trail, 'session_completed')
  return line?.fields.evidence_sha256
}

/** No session takes so many actions at once; a larger leap in the numbers was written by hand. */
const MAX_LEAP = 10_000

/**
 * The lines of a trail that count: with numbers that grow, none behind the seal. What a person or a
 * process wrote among them out of order is no line of the journal. A trail that begins again is the
 * true one: a text of a section that looks like a trail stands before it, never behind.
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
