import type { SessionDurations } from '../../model/session-durations.ts'

/** The three phases, in their order; each has a look that needs no colour. */
const PHASES = [
  { key: 'planned_ms', name: 'planned' },
  { key: 'waited_ms', name: 'waited' },
  { key: 'ran_ms', name: 'ran' },
] as const

const WIDTH = 240
const HEIGHT = 10
/** A phase that was short beside the others is still seen. */
const LEAST = 3

/**
 * How long a session planned, waited and ran, to scale. The text beside it says the same, so screen readers skip it.
 * Null if no phase is over.
 */
export function SessionBar({ durations }: { durations: SessionDurations }) {
  const parts = partsOf(durations)
  if (parts.length === 0) return null
  return (
    <svg
      class="session-bar"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {parts.map(({ name, x, width }) => (
        <rect class={name} x={x + 0.5} y={0.5} width={Math.max(1, width - 1)} height={HEIGHT - 1} />
      ))}
    </svg>
  )
}

export interface BarPart {
  name: (typeof PHASES)[number]['name']
  x: number
  width: number
}

/** Widths add up to the whole bar: what the short phases get at least, the long ones give. */
export function partsOf(durations: SessionDurations): BarPart[] {
  const phases = PHASES.flatMap(({ key, name }) => {
    const ms = durations[key]
    return ms === null ? [] : [{ name, ms }]
  })
  const sum = phases.reduce((all, { ms }) => all + ms, 0)
  const spare = WIDTH - LEAST * phases.length
  let x = 0
  return phases.map(({ name, ms }) => {
    const width = LEAST + (sum === 0 ? spare / phases.length : (spare * ms) / sum)
    const part = { name, x: round(x), width: round(width) }
    x += width
    return part
  })
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
