/**
 * Loaded into the service (`node --import`): appends to the file PAUSES how many milliseconds of CPU time its main thread
 * took between two turns of the event loop, if they are many.
 */
import { appendFileSync, openSync, readSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const LEAST_MS = 10
const EVERY_MS = 2

if (isMainThread && process.env.PAUSES) {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const bytes = Buffer.alloc(64)
  const cpuMs = () => {
    const length = readSync(file, bytes, 0, bytes.length, 0)
    return Number(bytes.toString('latin1', 0, length).split(' ')[0]) / 1e6
  }
  let before = cpuMs()
  setInterval(() => {
    const now = cpuMs()
    if (now - before > LEAST_MS) appendFileSync(String(process.env.PAUSES), `${now - before}\n`)
    before = now
  }, EVERY_MS).unref()
}
