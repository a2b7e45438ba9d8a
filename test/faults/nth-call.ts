import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { spread } from '../fixtures/faults/chance.ts'
import { OPERATIONS } from '../fixtures/faults/operations.ts'
import { failEach, failEachOfStart, killAtEach } from '../fixtures/faults/trials.ts'
import { isFull } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'

/*
 * SQLite's method: the disk fails at the 1st, 2nd, … call of an operation. Some calls fail, in full more of them
 * (CASEFILE_TEST_FULL=1), by a seed that is printed and that CASEFILE_TEST_SEED repeats. CASEFILE_TEST_ONLY is a part of an operation's name.
 */
const { CASEFILE_TEST_SEED, CASEFILE_TEST_ONLY = '' } = process.env
const seed = Number(CASEFILE_TEST_SEED)
const chance = randomFrom(seed)
const LIMIT = { timeout: 3_600_000 }
const operations = OPERATIONS.filter(({ name }) => name.includes(CASEFILE_TEST_ONLY))

/** Each call of most operations; a run has hundreds. */
const MOST_IN_FULL = 40
const some = (most: number) => (count: number) =>
  spread(count, isFull ? MOST_IN_FULL : most, chance)

t.setTimeout(LIMIT.timeout)
t.comment(`CASEFILE_TEST_SEED=${seed}`)

for (const [kind, name, most] of [
  ['EIO', 'a disk that fails once', 3],
  ['ENOSPC', 'a disk that is full', 2],
  ['short', 'a disk that takes half of what it is given', 1],
] as const) {
  t.test(`${name}, at the Nth call, loses nothing`, LIMIT, async (t) => {
    for (const operation of operations) {
      await t.test(operation.name, LIMIT, async (t) => {
        t.teardown(() => {}) // or tap removes the testdir before the services have ended
        t.testdir({})
        t.pass(`${await failEach(t, kind, operation, some(most))} calls failed`)
      })
    }
  })
}

t.test('a kill at the Nth call loses nothing that was acknowledged', LIMIT, async (t) => {
  for (const operation of operations) {
    await t.test(operation.name, LIMIT, async (t) => {
      t.teardown(() => {})
      t.testdir({})
      t.pass(`${await killAtEach(t, operation, some(2))} kills`)
    })
  }
})

t.test('a kill at the Nth call, and a person who removes the last audit line', LIMIT, async (t) => {
  for (const operation of operations.filter(({ name }) => name.startsWith('a session'))) {
    await t.test(operation.name, LIMIT, async (t) => {
      t.teardown(() => {})
      t.testdir({})
      t.pass(`${await killAtEach(t, operation, some(2), withoutLastLine)} kills`)
    })
  }
})

/** In the session file that was written last, unless it has only one. Returns whether the line is back. */
function withoutLastLine(root: string): () => boolean {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /sessions\/\d+\.md$/.test(name))
    .map((name) => join(root, name))
  const last = files.reduce((a, b) => (statSync(a).mtimeMs > statSync(b).mtimeMs ? a : b))
  const text = readFileSync(last, 'utf8')
  const [line = '\n'] = /\n(?!1\.)\d+\. .*\n$/.exec(text) ?? []
  writeFileSync(last, text.slice(0, text.length + 1 - line.length))
  return () => readFileSync(last, 'utf8').includes(line)
}

t.test('a start whose disk fails at the Nth call', LIMIT, async (t) => {
  for (const kind of ['EIO', 'crash'] as const) {
    await t.test(kind, LIMIT, async (t) => {
      t.teardown(() => {})
      t.testdir({})
      t.pass(`${await failEachOfStart(t, kind, some(3))} calls failed`)
    })
  }
})
