/**
 * Durable writes and no more: `node bench/writes-limit.mjs put|create CASES COUNT WRITERS`. `put`
 * replaces the case.md of a case by a temporary file beside it: written, fsync, rename, fsync of the
 * folder; `create` makes a folder first. One writer uses synchronous calls, the quickest way; more use
 * promises, each in cases of its own. Says how long each took, and all.
 */
import * as sync from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'

const WARM_UP = 5

const [mode, cases = '', count = '', writers = ''] = process.argv.slice(2)
const ids = sync.readdirSync(cases).sort()
const bytes = sync.readFileSync(join(cases, String(ids[0]), 'case.md'))
let turn = 0
const nextFolder = () =>
  mode === 'create'
    ? join(cases, `made-${process.pid}-${turn++}`)
    : join(cases, String(ids[turn++ % ids.length]))

/** @param {string} folder */
function writeNow(folder) {
  if (mode === 'create') sync.mkdirSync(folder)
  const path = join(folder, 'case.md')
  const file = sync.openSync(`${path}.tmp`, 'wx')
  sync.writeSync(file, bytes)
  sync.fsyncSync(file)
  sync.closeSync(file)
  sync.renameSync(`${path}.tmp`, path)
  const held = sync.openSync(folder, 'r')
  sync.fsyncSync(held)
  sync.closeSync(held)
}

/** @param {string} folder */
async function write(folder) {
  if (mode === 'create') await mkdir(folder)
  const path = join(folder, 'case.md')
  const file = await open(`${path}.tmp`, 'wx')
  await file.write(bytes)
  await file.sync()
  await file.close()
  await rename(`${path}.tmp`, path)
  const held = await open(folder, 'r')
  await held.sync()
  await held.close()
}

/** @type {(folder: string) => unknown} */
const one = writers === '1' ? writeNow : write
for (let done = 0; done < WARM_UP; done++) await one(nextFolder())
/** @type {number[]} */
const times = []
let left = Number(count)
const [began, cpu] = [performance.now(), process.cpuUsage()]
await Promise.all(
  Array.from({ length: Number(writers) }, async () => {
    while (left-- > 0) {
      const from = performance.now()
      await one(nextFolder())
      times.push(performance.now() - from)
    }
  }),
)
const { user, system } = process.cpuUsage(cpu)
const processorMs = (user + system) / 1000
console.log(JSON.stringify({ times, ms: performance.now() - began, processorMs }))
