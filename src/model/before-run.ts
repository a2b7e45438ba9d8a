/** What the audit trail says of what was there before the first step of a run. */

import {
  both,
  countsOf,
  type RunBase,
  readBase,
  readCompared,
  type TestsBefore,
  textOf,
  textsOf,
} from './before-run-text.ts'
import { lastOf, type TrailLine } from './trail.ts'

/** The state of the working folder when the run began; null if the session has not run. */
export function recordedBase(trail: readonly TrailLine[]): RunBase | null {
  const line = lastOf(trail, 'base_recorded')
  return line ? readBase(line.fields) : null
}

/** What the tests said before the run, and what changed; null if the plan did not ask for that. */
export function testsBefore(trail: readonly TrailLine[]): TestsBefore | null {
  const from = trail.findLastIndex(({ event }) => event === 'plan_approved')
  const lines = trail.slice(from + 1)
  const before = lines.filter((line) => line.event === 'tests_before')
  if (before.length === 0) return null
  const steps = before.map(({ fields }) => ({
    step: String(fields.step),
    tests: countsOf(fields),
    reason: textOf(fields.reason),
  }))
  const compared = lines
    .filter((line) => line.event === 'tests_compared')
    .map(({ fields }) => readCompared(fields))
  return {
    run: sum(steps.map(({ tests }) => tests?.run)),
    passed: sum(steps.map(({ tests }) => tests?.passed)),
    failed: sum(steps.map(({ tests }) => tests?.failed)),
    failing: before.flatMap(({ fields }) => textsOf(fields.failing)),
    steps,
    compared: compared.length === 0 ? null : compared.reduce(both),
  }
}

function sum(numbers: readonly (number | undefined)[]): number {
  return numbers.reduce((total: number, each) => total + (each ?? 0), 0)
}
