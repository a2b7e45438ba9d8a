/**
 * What `run.mjs` knows of a suite.
 *
 * @typedef {object} Suite
 * @property {number[]} sizes How many cases the workspaces have.
 * @property {Record<string, string>} limits What Casefile is measured beside, by the name that rows use.
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
 * @property {string} on What it was measured on.
 * @property {keyof typeof UNITS} unit
 * @property {number} ours
 * @property {string} beside The name of the limit.
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
}

const HEAD = ['what', 'on', 'Casefile', 'beside', 'which has', 'ratio', 'goal', 'met']
const ALIGN = ['---', '---', '---:', '---', '---:', '---:', '---', '---']

/** Rows as a markdown table, with a list of what they are beside. @param {readonly Row[]} rows @param {Suite} suite */
export function tableOf(rows, { limits }) {
  const table = [HEAD, ALIGN, ...rows.map(cellsOf)].map((cells) => `| ${cells.join(' | ')} |`)
  const legend = Object.entries(limits).map(([name, text]) => `- **${name}**: ${text}`)
  return `${table.join('\n')}\n\n${legend.join('\n')}`
}

/** @param {Row} row */
export function isMet({ ours, limit, goal }) {
  return (
    ours <= (goal.most ?? ours) &&
    ours >= (goal.least ?? ours) &&
    ours <= (goal.ratio ?? Infinity) * limit &&
    ours >= (goal.share ?? 0) * limit &&
    ours - limit <= (goal.over ?? Infinity)
  )
}

/** @param {Row} row @returns {string[]} */
function cellsOf(row) {
  const { what, on, unit, ours, beside, limit, goal } = row
  const write = UNITS[unit]
  const goals = [
    goal.most === undefined ? '' : `≤ ${write(goal.most)}`,
    goal.least === undefined ? '' : `≥ ${write(goal.least)}`,
    goal.ratio === undefined ? '' : `≤ ${goal.ratio}×`,
    goal.share === undefined ? '' : `≥ ${goal.share}×`,
    goal.over === undefined ? '' : `≤ + ${write(goal.over)}`,
  ].filter((text) => text !== '')
  const met = goals.length === 0 ? '' : isMet(row) ? 'yes' : '**no**'
  const ratio = `${short(ours / limit)}×`
  return [what, on, write(ours), beside, write(limit), ratio, goals.join(', '), met]
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
