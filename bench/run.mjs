/**
 * Runs suites of benchmarks, all if none is named, and writes their tables into docs/benchmarks.md:
 * `node bench/run.mjs [SUITE…] [--program dist/cli.js] [--cases 1000,5000] [--saves 300] [--in DIR]
 * [--json FILE] [--print]`. A run with other sizes, or with `--print`, writes nothing but its output.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checkoutSuite } from './checkout.mjs'
import { cliSuite } from './cli.mjs'
import { eventsSuite } from './events.mjs'
import { fanoutSuite } from './fanout.mjs'
import { growthSuite } from './growth.mjs'
import { machineNow } from './machine.mjs'
import { pagesSuite } from './pages.mjs'
import { peersSuite } from './peers.mjs'
import { readsSuite } from './reads.mjs'
import { searchSuite } from './search.mjs'
import { startsSuite } from './starts.mjs'
import { stepsSuite } from './steps.mjs'
import { tableOf, withSection } from './table.mjs'
import { webhooksSuite } from './webhooks.mjs'
import { writesSuite } from './writes.mjs'

/** @import { Row, Suite } from './suite.mjs' */

/** In the order in which they run. @type {Record<string, Suite>} */
const SUITES = {
  starts: startsSuite,
  reads: readsSuite,
  writes: writesSuite,
  growth: growthSuite,
  events: eventsSuite,
  checkout: checkoutSuite,
  fanout: fanoutSuite,
  steps: stepsSuite,
  webhooks: webhooksSuite,
  pages: pagesSuite,
  cli: cliSuite,
  search: searchSuite,
  peers: peersSuite,
}
const PAGE = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const SAVES = 300

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    program: { type: 'string', default: PROGRAM },
    cases: { type: 'string' },
    saves: { type: 'string' },
    in: { type: 'string', default: tmpdir() },
    json: { type: 'string' },
    print: { type: 'boolean', default: false },
  },
})
const names = positionals.length > 0 ? positionals : Object.keys(SUITES)
const program = resolve(values.program)
if (!existsSync(program)) throw new Error(`${program} is not there: npm run build`)

/** @type {(() => unknown)[]} */
const undo = []
const end = () => {
  for (const each of undo.splice(0).reverse()) each()
}
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    end()
    process.exit(1)
  })
}

process.on('uncaughtExceptionMonitor', end)

/** What could be measured; a suite that fails does not end those after it. @type {Record<string, { machine: string, rows: Row[] }>} */
const measured = {}
for (const name of names) {
  const suite = SUITES[name]
  if (!suite) throw new Error(`${name} is no suite; there are ${Object.keys(SUITES).join(', ')}`)
  try {
    measured[name] = await run(name, suite)
  } catch (error) {
    console.error(`the suite ${name} failed:`, error)
    process.exitCode = 1
  } finally {
    end()
  }
}
if (values.json) writeFileSync(values.json, `${JSON.stringify(measured, null, 2)}\n`)

/**
 * @param {string} name
 * @param {Suite} suite
 */
async function run(name, suite) {
  const began = performance.now()
  const seconds = () => ((performance.now() - began) / 1000).toFixed(0)
  const machine = machineNow(values.in)
  /** @type {Row[]} */
  const rows = []
  for (const size of values.cases?.split(',').map(Number) ?? suite.sizes) {
    const measuring = suite.measure(size, {
      program,
      parent: values.in,
      saves: Number(values.saves ?? SAVES),
      say: (line) => console.error(`${name} ${seconds().padStart(4)} s  ${line}`),
      onEnd: (each) => undo.push(each),
    })
    for await (const row of measuring) rows.push(row)
  }
  const text = `${machine} The whole took ${seconds()} s.\n\n${tableOf(rows, suite)}`
  console.log(text)
  if (!values.print && !values.cases && !values.saves) {
    writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), name, text))
  }
  return { machine, rows }
}
