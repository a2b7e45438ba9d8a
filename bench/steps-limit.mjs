/** What a step is at the least: `node bench/steps-limit.mjs COUNT` starts the same shell so often, one after the other. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { median } from './figures.mjs'

const WARM_UP = 5

/** @type {number[]} */
const times = []
for (let done = -WARM_UP; done < Number(process.argv[2]); done++) {
  const began = performance.now()
  const child = spawn('/bin/sh', ['-eu', '-c', 'true'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  child.stdout.resume()
  child.stderr.resume()
  await once(child, 'close')
  if (done >= 0) times.push(performance.now() - began)
}
console.log(`took ${median(times)} ms`)
