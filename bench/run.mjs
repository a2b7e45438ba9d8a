/**
 * Runs a suite of benchmarks and writes its table into docs/benchmarks.md:
 * `node bench/run.mjs watch|webhooks|pages [--program dist/cli.js] [--cases 1000,5000] [--saves 300] [--in DIR]
 * [--json FILE] [--print]`. A run with other sizes, or with `--print`, writes nothing but its output.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { machineNow } from './machine.mjs'
import { pagesSuite } from './pages.mjs'
import { tableOf, withSection } from './table.mjs'
import { watchSuite } from './watch.mjs'
import { webhooksSuite } from './webhooks.mjs'

/** @type {Record<string, import('./suite.mjs').Suite>} */
const SUITES = { watch: watchSuite, webhooks: webhooksSuite, pages: pagesSuite }
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
const name = positionals[0] ?? ''
const suite = SUITES[name]
if (!suite) throw new Error(`name a suite: ${Object.keys(SUITES).join(', ')}`)
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

const machine = machineNow(values.in)
/** @type {import('./suite.mjs').Row[]} */
const rows = []
try {
  for (const size of values.cases?.split(',').map(Number) ?? suite.sizes) {
    const measured = suite.measure(size, {
      program,
      parent: values.in,
      saves: Number(values.saves ?? SAVES),
      say: (line) =>
        console.error(`${(performance.now() / 1000).toFixed(0).padStart(4)} s  ${line}`),
      onEnd: (each) => undo.push(each),
    })
    for await (const row of measured) rows.push(row)
  }
} finally {
  end()
}
const text = `${machine} The whole took ${Math.round(performance.now() / 1000)} s.\n\n${tableOf(rows, suite)}`
console.log(text)
if (values.json) writeFileSync(values.json, `${JSON.stringify({ machine, rows }, null, 2)}\n`)
if (!values.print && !values.cases && !values.saves) {
  writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), name, text))
}
