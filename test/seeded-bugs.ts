import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isFull } from './fixtures/full.ts'
import type { SeededBug } from './fixtures/seeded-bugs/bug.ts'
import { DURABILITY } from './fixtures/seeded-bugs/durability.ts'
import { EVENT_LOG } from './fixtures/seeded-bugs/event-log.ts'
import { GATE } from './fixtures/seeded-bugs/gate.ts'
import { MARKDOWN } from './fixtures/seeded-bugs/markdown.ts'
import { MCP } from './fixtures/seeded-bugs/mcp.ts'
import { OWNERSHIP } from './fixtures/seeded-bugs/ownership.ts'
import { PATHS } from './fixtures/seeded-bugs/paths.ts'
import { REQUESTS } from './fixtures/seeded-bugs/requests.ts'
import { seededCopy } from './fixtures/seeded-bugs/seeded-copy.ts'
import { SESSIONS } from './fixtures/seeded-bugs/sessions.ts'
import { STREAMS } from './fixtures/seeded-bugs/streams.ts'
import { WATCHING } from './fixtures/seeded-bugs/watching.ts'
import { WEBHOOKS } from './fixtures/seeded-bugs/webhooks.ts'

/*
 * Do the tests notice what they are for? Known bugs, each with the test that must fail when somebody makes it. In
 * full each is made, in a copy, and its test is run. Else only the tables are held to the source: a change of it
 * takes its bug along, so that none of them turns into a bug that nobody can make.
 */
const project = fileURLToPath(new URL('..', import.meta.url))
const BUGS: readonly SeededBug[] = [
  ...DURABILITY,
  ...EVENT_LOG,
  ...GATE,
  ...MARKDOWN,
  ...MCP,
  ...OWNERSHIP,
  ...PATHS,
  ...REQUESTS,
  ...SESSIONS,
  ...STREAMS,
  ...WATCHING,
  ...WEBHOOKS,
]
const LANES = 2

t.test('each known bug can be made, and names the test that notices it', async (t) => {
  t.ok(BUGS.length >= 100, `${BUGS.length} bugs`)
  t.equal(new Set(BUGS.map(({ what }) => what)).size, BUGS.length, 'each is there once')
  for (const { what, file, find, put, test, by } of BUGS) {
    const parts = readFileSync(`${project}/src/${file}`, 'utf8').split(find)
    if (parts.length !== 2) t.fail(`${what}: src/${file} has it ${parts.length - 1} times: ${find}`)
    if (put === find) t.fail(`${what}: nothing is changed`)
    if (!readFileSync(`${project}/${test}`, 'utf8').includes(inSource(by)))
      t.fail(`${what}: ${test} has no test "${by}"`)
  }
})

t.test('each is noticed', { skip: !isFull && 'in full only', timeout: 7_200_000 }, async (t) => {
  const tests = new Map<string, SeededBug[]>()
  for (const bug of BUGS) {
    const key = `${bug.test}: ${bug.by}`
    tests.set(key, [...(tests.get(key) ?? []), bug])
  }
  const waiting = [...tests.values()]
  const lane = async () => {
    const copy = seededCopy(t, project)
    for (let bugs = waiting.shift(); bugs; bugs = waiting.shift()) {
      const [{ test, by }] = bugs as [SeededBug]
      const sound = await copy.run({ test, by })
      const isSound = !sound.isFailure && sound.passed.some((title) => title.startsWith(by))
      t.ok(isSound, `as it is: ${test}: ${by}`, { said: sound.said.slice(-2000) })
      for (const bug of bugs) {
        const { isFailure, failed } = await copy.run(bug, bug)
        t.ok(isFailure && failed.some((title) => title.startsWith(by)), bug.what, { failed })
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
})

/** As it stands between single quotes. */
function inSource(title: string): string {
  return title.replaceAll("'", "\\'").includes("\\'") ? title.split("'")[0]! : title
}
