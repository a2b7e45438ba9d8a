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
