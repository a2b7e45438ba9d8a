/**
 * Measures the built program beside the least that a Node process can do for the same effect, and prints a
 * table for each suite: `node bench/run.mjs [SUITE…] [--program dist/cli.js] [--cases 1000,5000] [--times
 * 300]`. Without names all suites run. bench/README.md explains the rows.
 */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { countsSuite } from './counts.mjs'
import { crashSuite } from './crash.mjs'
import { eventsSuite } from './events.mjs'
import { growthSuite } from './growth.mjs'
import { parallelSuite } from './parallel.mjs'
import { pausesSuite } from './pauses.mjs'
import { peersSuite } from './peers.mjs'
import { readsSuite } from './reads.mjs'
import { runsSuite } from './runs.mjs'
import { searchSuite } from './search.mjs'
import { cliSuite, startsSuite } from './starts.mjs'
import { machineNow, markdownTable } from './suite.mjs'
import { syncSuite } from './sync.mjs'
import { webhooksSuite } from './webhooks.mjs'
import { writesSuite } from './writes.mjs'

/** @import { Row, Suite } from './suite.mjs' */

/** In the order in which they run. @type {Record<string, Suite>} */
const SUITES = {
  counts: countsSuite,
  starts: startsSuite,
  reads: readsSuite,
  writes: writesSuite,
  growth: growthSuite,
  events: eventsSuite,
  runs: runsSuite,
  parallel: parallelSuite,
  search: searchSuite,
  cli: cliSuite,
  webhooks: webhooksSuite,
  crash: crashSuite,
  sync: syncSuite,
  pauses: pausesSuite,
  peers: peersSuite,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    program: { type: 'string', default: fileURLToPath(new URL('../dist/cli.js', import.meta.url)) },
    cases: { type: 'string' },
    times: { type: 'string', default: '300' },
  },
})
const names = positionals.length > 0 ? positionals : Object.keys(SUITES)
const unknown = names.find((name) => !Object.hasOwn(SUITES, name))
if (unknown) throw new Error(`${unknown} is no suite; there are ${Object.keys(SUITES).join(', ')}`)
const program = resolve(values.program)
if (!existsSync(program)) throw new Error(`${program} is missing: npm run build`)

/** @type {(() => unknown)[]} */
const undo = []
async function end() {
  for (const step of undo.splice(0).reverse()) await step()
}
for (const event of ['SIGINT', 'SIGTERM', 'uncaughtException']) {
  process.on(event, (reason) => {
    console.error(reason)
    void end().finally(() => process.exit(1))
  })
}

for (const name of names) {
  try {
    const suite = /** @type {Suite} */ (SUITES[name])
    const machine = machineNow()
    console.log(`## ${name}\n\n${machine}\n\n${markdownTable(await run(name, suite))}\n`)
  } catch (error) {
    console.error(`the suite ${name} failed:`, error) // those after it run
    process.exitCode = 1
  }
}

/** @param {string} name @param {Suite} suite */
async function run(name, suite) {
  const began = performance.now()
  /** @type {(Row & { size: number })[]} */
  const rows = []
  for (const size of values.cases?.split(',').map(Number) ?? suite.sizes) {
    try {
      const measuring = suite.measure(size, {
        program,
        parent: tmpdir(),
        times: Number(values.times),
        say(line) {
          const seconds = ((performance.now() - began) / 1000).toFixed(0)
          console.error(`${name} ${seconds.padStart(4)} s  ${line}`)
        },
        onEnd: (step) => undo.push(step),
      })
      for await (const row of measuring) rows.push({ size, ...row })
    } finally {
      await end()
    }
  }
  return rows
}
