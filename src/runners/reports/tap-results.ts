import { type FinalResults, Parser, type Result } from 'tap-parser'
import type { TestResults } from './test-results.ts'

interface Counts {
  passed: number
  failed: number
  skipped: number
}

/**
 * Counts the leaves of a TAP report; lines that are no TAP may stand around it. A test whose subtests
 * all passed and that failed nevertheless (an error after them) is a failed test; one without
 * subtests is a test. Null if there is no TAP: no plan, no test point and no bail out.
 */
export function readTap(text: string): TestResults | null {
  const parser = new Parser()
  const level = watch(parser)
  parser.end(text)
  const { counts, planned, broken } = level()
  const run = counts.passed + counts.failed
  const seen = run + counts.skipped > 0 || planned || parser.bailedOut !== false
  if (!seen) return null
  const complete = planned && !broken && parser.bailedOut === false
  return { run, ...counts, ok: complete && counts.failed === 0 }
}

interface Level {
  counts: Counts
  planned: boolean
  /** Not as planned, here or below, or the text ends before the test point that closes a subtest. */
  broken: boolean
}

function watch(parser: Parser): () => Level {
  let counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  let planned = false
  let broken = false
  let child: (() => Level) | undefined

  parser.on('plan', () => {
    planned ||= !parser.syntheticPlan
  })
  parser.on('child', (inner: Parser) => {
    child = watch(inner)
  })
  parser.on('assert', (point: Result) => {
    const below = point.closingTestPoint ? child?.() : undefined
    counts = sum(counts, pointCounts(point, below?.counts))
    broken ||= below?.broken === true
    if (point.closingTestPoint) child = undefined
  })
  // Its own `ok` does not know that a failure below a todo is none, nor that the last plan is missing.
  parser.on('complete', ({ failures }: FinalResults) => {
    broken ||= failures.some((failure) => failure.tapError)
  })

  return () => {
    const open = child?.()
    return {
      counts: open === undefined ? counts : sum(counts, open.counts),
      planned,
      broken: broken || open !== undefined,
    }
  }
}

function pointCounts(point: Result, below: Counts | undefined): Counts {
  const leaves = below === undefined ? 0 : below.passed + below.failed + below.skipped
  if (isSet(point.skip) || isSet(point.todo)) {
    return { passed: 0, failed: 0, skipped: Math.max(leaves, 1) }
  }
  if (below === undefined || leaves === 0) {
    return { passed: point.ok ? 1 : 0, failed: point.ok ? 0 : 1, skipped: 0 }
  }
  const ownFailure = !point.ok && below.failed === 0
  return ownFailure ? { ...below, failed: 1 } : below
}

/** A directive without a reason is `true` or an empty string. */
function isSet(directive: string | boolean): boolean {
  return directive !== false
}

function sum(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  }
}
