/** How long JSON.stringify takes for the values in a file, and no more: `node bench/stringify-limit.mjs FILE COUNT`. */
import { readFileSync } from 'node:fs'
import { median } from './figures.mjs'

const WARM_UP = 5

const [file = '', count = ''] = process.argv.slice(2)
const values = JSON.parse(readFileSync(file, 'utf8'))
/** @type {number[]} */
const times = []
for (let done = -WARM_UP; done < Number(count); done++) {
  const began = performance.now()
  JSON.stringify(values)
  if (done >= 0) times.push(performance.now() - began)
}
console.log(`took ${median(times)} ms`)
