/**
 * A minute of benchmarks for CI: one ratio to its limit for each main row, compared with those stored in
 * bench/ratios.json. Ends with 1 where a row is more than twice as bad: `node bench/smoke.mjs
 * [--program dist/cli.js] [--in DIR] [--cases 1000] [--store]`. With `--store` it writes the file instead.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startCasefile } from './casefile.mjs'
import { commandRounds } from './cli.mjs'
import { machineNow } from './machine.mjs'
import { smokeEvents } from './smoke-events.mjs'
import { smokeReads } from './smoke-reads.mjs'
import { smokeMemory, smokeStarts } from './smoke-starts.mjs'
import { bestRatios, regressions, reportOf } from './smoke-verdict.mjs'
import { smokeWrites } from './smoke-writes.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Figures, Ratios } from './smoke-verdict.mjs' */

const STORED = join(import.meta.dirname, 'ratios.json')
const STORE_TRIES = 2
const COMMAND_ROUNDS = 4
const OTHER_CASES = 50

const { values } = parseArgs({
  options: {
    program: { type: 'string', default: join(import.meta.dirname, '..', 'dist', 'cli.js') },
    in: { type: 'string', default: tmpdir() },
    cases: { type: 'string', default: '1000' },
    store: { type: 'boolean', default: false },
  },
})
const program = resolve(values.program)
if (!existsSync(program)) throw new Error(`${program} is not there: npm run build`)
/** @type {Ratios} */
const stored = JSON.parse(readFileSync(STORED, 'utf8')).ratios
/** @type {(() => unknown)[]} */
const undo = []
const onEnd = (/** @type {() => unknown} */ each) => void undo.push(each)
const end = async () => {
  for (const each of undo.splice(0).reverse()) await each()
}
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => end().then(() => process.exit(1)))
}

const machine = machineNow(values.in)
try {
  const ratios = await measureAll()
  console.log(`${machine} It took ${Math.round(performance.now() / 1000)} s.\n`)
  console.log(reportOf(ratios, values.store ? {} : stored).join('\n'))
  if (values.store) {
    const rounded = Object.entries(ratios).map(([name, ratio]) => [name, Number(ratio.toFixed(3))])
    const text = JSON.stringify({ machine, ratios: Object.fromEntries(rounded) }, null, 2)
    writeFileSync(STORED, `${text}\n`)
  } else {
    const worse = regressions(ratios, stored)
    if (worse.length > 0) {
      console.error(`\nmore than twice as bad as stored in bench/ratios.json: ${worse.join(', ')}`)
      process.exitCode = 1
    }
  }
} finally {
  await end()
}

/** @returns {Promise<Ratios>} */
async function measureAll() {
  /** @param {() => Promise<Record<string, Figures>>} measure */
  const best = (measure) =>
    bestRatios(measure, values.store ? {} : stored, values.store ? STORE_TRIES : 1)
  const workspace = makeWorkspace({ parent: values.in, count: Number(values.cases), seed: 7 })
  onEnd(workspace.remove)
  const other = makeWorkspace({ parent: values.in, count: OTHER_CASES, seed: 8 })
  onEnd(other.remove)
  const { root, newStateDir } = workspace
  const starts = await best(() => smokeStarts(workspace, { program, onEnd }))

  const casefile = await startCasefile({ program, root, stateDir: newStateDir(), onEnd })
  const server = { casefile, workspace, other, onEnd }
  const memory = await best(() => smokeMemory(server))
  const reads = await best(await smokeReads(server))
  const writes = await best(() => smokeWrites(server))
  const events = await best(() => smokeEvents(server))
  await casefile.stop('SIGTERM')

  const commands = await best(async () => {
    const { rounds } = await commandRounds(program, workspace, COMMAND_ROUNDS)
    return {
      'casefile list': {
        ours: Math.min(...rounds.map(({ ours }) => Number(ours['casefile list']))),
        limit: Math.min(...rounds.map(({ limit }) => limit)),
      },
    }
  })
  return { ...starts, ...memory, ...reads, ...writes, ...events, ...commands }
}
