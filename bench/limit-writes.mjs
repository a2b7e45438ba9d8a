/**
 * Durable writes and no more: `node bench/limit-writes.mjs put|create CASES COUNT WRITERS`. `put` replaces the case.md of
 * one case after the other by a temporary file beside it: write, fsync, rename, fsync of the folder; `create` makes a
 * folder first. One writer uses synchronous calls, which is the quickest way; more use promises.
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
function writeSync(folder) {
  if (mode === 'create') sync.mkdirSync(folder)
  const path = join(folder, 'case.md')
  const file = sync.openSync(`${path}.tmp`, 'wx')
  sync.writeSync(file, bytes)
  sync.fsyncSync(file)
  sync.closeSync(file)
  sync.renameSync(`${path}.tmp`, path)
  const parent = sync.openSync(folder, 'r')
  sync.fsyncSync(parent)
  sync.closeSync(parent)
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
  const parent = await open(folder, 'r')
  await parent.sync()
  await parent.close()
}

/** @type {(folder: string) => unknown} */
const one = writers === '1' ? writeSync : write
for (let done = 0; done < WARM_UP; done++) await one(nextFolder())
/** @type {number[]} */
const times = []
let left = Number(count)
const began = performance.now()
await Promise.all(
  Array.from({ length: Number(writers) }, async () => {
    while (left-- > 0) {
      const from = performance.now()
      await one(nextFolder())
      times.push(performance.now() - from)
    }
  }),
)
console.log(JSON.stringify({ times, ms: performance.now() - began }))
