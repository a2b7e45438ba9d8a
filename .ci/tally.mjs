// Prints the closing line of .ci/run from the TAP in files: `node tally.mjs (<file> <exit code of the
// run>)...`. A test is an innermost named test; a file without any is
// one test. A test or a file that fails though everything inside it passed (time-out, crash, exit
// code) is one more failure, and so is a run that ends badly without one. To-do tests count as skipped.
// Before that line stands what failed, first the places of all, then what tap said of each: whoever sees
// only the end of a long run needs that, or only the first lines of that end.
import { readFileSync } from 'node:fs'
import { Parser } from 'tap-parser'

const words = process.argv.slice(2)
const runs = words.flatMap((file, index) => (index % 2 ? [] : [{ file, status: words[index + 1] }]))
const sum = { passed: 0, failed: 0, skipped: 0 }
const failing = []
for (const { file, status } of runs) {
  const events = Parser.parse(readFileSync(file, 'utf8'))
  const { passed, failed, skipped } = tally(events)
  sum.passed += passed
  sum.failed += failed === 0 && status !== '0' ? 1 : failed
  sum.skipped += skipped
  failing.push(...listFailures(events))
  if (status !== '0') console.error(`a run ended with exit code ${status}`)
}

for (const { place } of failing) console.log(`not ok: ${place.join(' > ')}`)
for (const { place, said } of failing) {
  if (said) console.log(`${place.join(' > ')}:\n${said.replaceAll(/^/gm, '    ')}`)
}
if (sum.passed + sum.failed === 0) console.error('no test ran')
const { passed, failed, skipped } = sum
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed || passed === 0 ? 1 : 0

/** `events` as tap-parser gives them: the `child` that holds a test's inside precedes its `assert`. */
function tally(events) {
  const sum = { tests: 0, passed: 0, failed: 0, skipped: 0, assertions: 0 }
  let inside
  for (const [type, point] of events) {
    if (type === 'child') inside = tally(point)
    if (type === 'bailout') sum.failed++
    if (type !== 'assert') continue
    if (inside && (inside.tests > 0 || onlySkips(inside))) {
      for (const key of ['tests', 'passed', 'failed', 'skipped']) sum[key] += inside[key]
      if (!point.ok && inside.failed === 0) sum.failed++
    } else if (inside) {
      sum.tests++
      sum[verdict(point)]++
    } else if (point.skip || point.todo) {
      sum.skipped++
    } else {
      sum.assertions++
    }
    inside = undefined
  }
  return sum
}

/**
 * The assertions that failed, and the tests that failed though all in them passed. `said` is cut after
 * 4,000 characters: a difference of two long texts would drown the rest.
 */
function listFailures(events, place = []) {
  const failures = []
  let inside = []
  for (const [type, point] of events) {
    // Its name is in the `assert` that follows.
    if (type === 'child') inside = point
    if (type === 'bailout') failures.push({ place: [...place, `Bail out! ${point}`] })
    if (type !== 'assert') continue
    const here = [...place, point.name]
    const below = listFailures(inside, here)
    failures.push(...below)
    if (!point.ok && !point.todo && !point.skip && below.length === 0) {
      const said = point.diag ? JSON.stringify(point.diag, null, 2).slice(0, 4000) : ''
      failures.push({ place: here, said: said.replaceAll('\\n', '\n') })
    }
    inside = []
  }
  return failures
}

/** True of a test that holds nothing but tests that were skipped. */
function onlySkips(inside) {
  return inside.skipped > 0 && inside.assertions === 0
}

function verdict(point) {
  if (point.skip || point.todo) return 'skipped'
  return point.ok ? 'passed' : 'failed'
}
