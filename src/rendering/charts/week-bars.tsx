/** Runs of one week. */
interface Week {
  runs: number
  passed: number
}

const STEP = 12
const BAR = 9
const HEIGHT = 24
/** A week with a run is seen beside one with hundreds. */
const LEAST = 3

interface WeekBarsProps {
  weeks: readonly Week[]
  /** The number of runs of the highest bar. */
  most: number
}

/**
 * A bar for each week: what passed is solid, what failed is hollow and on top, so that no colour is needed. The text
 * beside it has the numbers, so screen readers skip it.
 */
export function WeekBars({ weeks, most }: WeekBarsProps) {
  const width = weeks.length * STEP - (STEP - BAR)
  return (
    <svg
      class="week-bars"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
      aria-hidden="true"
      focusable="false"
    >
      {weeks.map((week, index) => {
        const x = index * STEP
        const { passed, failed } = heightsOf(week, most)
        return (
          <>
            <path class="base" d={`M${x} ${HEIGHT - 0.5}h${BAR}`} />
            {passed > 0 && (
              <rect class="passed" x={x} y={HEIGHT - passed} width={BAR} height={passed} />
            )}
            {failed > 0 && (
              <rect
                class="failed"
                x={x + 0.5}
                y={HEIGHT - passed - failed + 0.5}
                width={BAR - 1}
                height={Math.max(1, failed - 1)}
              />
            )}
          </>
        )
      })}
    </svg>
  )
}

/** Both parts together are as high as the week, and each that is not empty can be seen. */
export function heightsOf(
  { runs, passed }: Week,
  most: number,
): { passed: number; failed: number } {
  const failed = runs - passed
  const parts = Math.min(passed, 1) + Math.min(failed, 1)
  if (parts === 0) return { passed: 0, failed: 0 }
  const height = Math.max(parts * LEAST, (HEIGHT * runs) / most)
  const spare = height - parts * LEAST
  const part = (count: number) => (count === 0 ? 0 : round(LEAST + (spare * count) / runs))
  return { passed: part(passed), failed: part(failed) }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
