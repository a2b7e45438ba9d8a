/**
 * What `run.mjs` knows of a suite. A later one is a file like `watch.mjs`, an entry in `run.mjs`, and
 * a pair of marker comments in docs/benchmarks.md.
 *
 * @typedef {object} Suite
 * @property {number[]} sizes How many cases the workspaces have.
 * @property {Record<string, string>} limits What Casefile is measured beside, by the name that rows
 *   use: the least that a program can do for the same effect, or a peer.
 * @property {(size: number, options: SuiteOptions) => AsyncIterable<Row>} measure
 *
 * @typedef {object} SuiteOptions
 * @property {string} program The built program, dist/cli.js.
 * @property {string} parent A folder on the disk to work in.
 * @property {number} saves How many of each kind, saves or requests.
 * @property {(line: string) => void} say
 * @property {(undo: () => unknown) => void} onEnd Called when the run ends, however it does.
 *
 * @typedef {object} Row
 * @property {string} what
 * @property {string} work What it was measured on.
 * @property {keyof typeof UNITS} unit
 * @property {number} ours
 * @property {string} beside The name of the limit.
 * @property {number} limit What it took, in the same run.
 * @property {Goal} [goal]
 *
 * @typedef {object} Goal
 * @property {number} [value] At most so much.
 * @property {number} [ratio] At most so many times the limit.
 * @property {number} [over] At most so much more than the limit.
 * @property {number} [least] At least so many times the limit: of what is better when it is more.
 */

/** How a figure is written. */
export const UNITS = {
  /** @param {number} value */
  ms: (value) => (value < 1000 ? `${short(value)} ms` : `${short(value / 1000)} s`),
  /** @param {number} value */
  bytes: (value) => `${short(value / 2 ** 20)} MB`,
  /** @param {number} value */
  kilobytes: (value) => `${short(value / 1024)} KB`,
  /** @param {number} value */
  count: (value) => value.toLocaleString('en', { maximumFractionDigits: 2 }),
}

/** Two or three digits that count. @param {number} value */
export function short(value) {
  if (value >= 100) return String(Math.round(value))
  return String(Number(value.toPrecision(value < 10 ? 2 : 3)))
}
