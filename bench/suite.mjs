import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

/**
 * What `run.mjs` knows of a suite.
 *
 * @typedef {object} Suite
 * @property {number[]} sizes How many cases the workspaces have.
 * @property {(size: number, options: SuiteOptions) => AsyncIterable<Row>} measure
 *
 * @typedef {object} SuiteOptions
 * @property {string} program The built program, dist/cli.js.
 * @property {string} parent A folder on the disk to work in.
 * @property {number} times How many requests or saves of each kind.
 * @property {(line: string) => void} say
 * @property {(undo: () => unknown) => void} onEnd Called when the suite ends, however it does.
 *
 * @typedef {object} Row
 * @property {string} what
 * @property {string} [on] What it was measured on, where that is not the number of cases.
 * @property {keyof typeof UNITS} [unit] Milliseconds where it is missing.
 * @property {number} ours
 * @property {string} beside What the limit is.
 * @property {number} limit What the limit took in the same run.
 * @property {Goal} goal
 *
 * @typedef {object} Goal
 * @property {number} [most] At most this value.
 * @property {number} [least] At least this value.
 * @property {number} [ratio] At most this many times the limit.
 * @property {number} [share] At least this share of the limit.
 * @property {number} [over] At most this much more than the limit.
 */

/** How a figure is written. */
const UNITS = {
  /** @param {number} value */
  ms: (value) => (value < 1000 ? `${short(value)} ms` : `${short(value / 1000)} s`),
  /** @param {number} value */
  bytes: (value) => `${short(value / 2 ** 20)} MB`,
  /** @param {number} value */
  perSecond: (value) => `${Math.round(value).toLocaleString('en')}/s`,
  /** @param {number} value */
  count: (value) => short(value),
  /** @param {number} value */
  perHour: (value) => `${Math.round(value).toLocaleString('en')}/h`,
}

const HEAD = ['what', 'on', 'Casefile', 'beside', 'which has', 'ratio', 'goal', 'met']
const ALIGN = ['---', '---', '---:', '---', '---:', '---:', '---', '---']

/** @param {readonly (Row & { size: number })[]} rows */
export function markdownTable(rows) {
  return [HEAD, ALIGN, ...rows.map(cellsOf)].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** @param {Row & { size: number }} row @returns {string[]} */
function cellsOf({ size, what, on = cases(size), unit = 'ms', ours, beside, limit, goal }) {
  const write = UNITS[unit]
  const { most, least, ratio, share, over } = goal
  /** @type {[goal: number | undefined, text: string, isMet: boolean][]} */
  const goals = [
    [most, `≤ ${write(Number(most))}`, ours <= Number(most)],
    [least, `≥ ${write(Number(least))}`, ours >= Number(least)],
    [ratio, `≤ ${ratio}×`, ours <= Number(ratio) * limit],
    [share, `≥ ${share}×`, ours >= Number(share) * limit],
    [over, `≤ + ${write(Number(over))}`, ours - limit <= Number(over)],
  ]
  const given = goals.filter(([value]) => value !== undefined)
  const text = given.map(([, text]) => text).join(', ')
  const isMet = given.every(([, , isMet]) => isMet)
  const met = given.length === 0 ? '' : isMet ? 'yes' : '**no**'
  const times = limit > 0 ? `${short(ours / limit)}×` : ''
  return [what, on, write(ours), beside, write(limit), times, text, met]
}

/** Two or three digits that count. @param {number} value */
function short(value) {
  if (value >= 100) return String(Math.round(value))
  return String(Number(value.toPrecision(value < 10 ? 2 : 3)))
}

/** As in "10,000 cases". @param {number} size */
export function cases(size) {
  return `${size.toLocaleString('en')} cases`
}

/** @param {readonly number[]} figures @param {number} part 0.5 for the median. */
export function percentile(figures, part) {
  const sorted = [...figures].sort((a, b) => a - b)
  return Number(sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)])
}

/** @param {readonly number[]} figures */
export function median(figures) {
  return percentile(figures, 0.5)
}

/** Measures a limit and Casefile in turns. @param {number} rounds @param {() => Promise<number>} limit @param {() => Promise<number>} ours */
export async function inTurns(rounds, limit, ours) {
  /** @type {{ ours: number[], limit: number[] }} */
  const both = { ours: [], limit: [] }
  for (let round = 0; round < rounds; round++) {
    both.limit.push(await limit())
    both.ours.push(await ours())
  }
  return both
}

/** @param {{ ours: readonly number[], limit: readonly number[] }} both @param {number} [part] of the figures; the median without it */
export function percentiles({ ours, limit }, part = 0.5) {
  return { ours: percentile(ours, part), limit: percentile(limit, part) }
}

/** One sentence: where and when this is measured. */
export function machineNow() {
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${cpus()[0]?.model.trim()},`,
    `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()},`,
    `Node ${process.version}, with a load of ${loadavg()[0]?.toFixed(1)} just before.`,
  ].join(' ')
}
