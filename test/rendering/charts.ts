import t from 'tap'
import { partsOf } from '../../src/rendering/charts/session-bar.tsx'

t.test(
  'the parts of a session fill the bar, to scale, and the shortest is still seen',
  async (t) => {
    const parts = partsOf({ planned_ms: 100, waited_ms: 4 * 86_400_000, ran_ms: 2_700 })
    t.strictSame(
      parts.map(({ name }) => name),
      ['planned', 'waited', 'ran'],
    )
    t.ok(parts.every(({ width }) => width >= 3))
    t.ok(parts[1]!.width > 200)
    const last = parts.at(-1)!
    t.ok(Math.abs(last.x + last.width - 240) < 0.2)
    const even = partsOf({ planned_ms: 1000, waited_ms: 1000, ran_ms: null })
    t.strictSame(
      even.map(({ width }) => width),
      [120, 120],
    )
    t.strictSame(partsOf({ planned_ms: null, waited_ms: null, ran_ms: null }), [])
    t.strictSame(partsOf({ planned_ms: 0, waited_ms: null, ran_ms: null }).length, 1)
  },
)
