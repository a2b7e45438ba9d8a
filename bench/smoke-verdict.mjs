import { short } from './suite.mjs'

/**
 * What one row took, and its limit in the same minute.
 * @typedef {{ ours: number, limit: number }} Figures
 * @typedef {Record<string, number>} Ratios By the name of the row.
 */

/** So many times the stored ratio is a regression. */
const WORSE = 2
const TRIES = 4

/**
 * The best ratio of each row. What seems to be a regression is measured again, up to three times:
 * noise makes a figure worse now and then, a regression does so each time.
 * @param {() => Promise<Record<string, Figures>>} measure
 * @param {Ratios} stored
 * @param {number} [fewest] How often it is measured at least.
 * @returns {Promise<Ratios>}
 */
export async function bestRatios(measure, stored, fewest = 1) {
  /** @type {Ratios} */
  const best = {}
  for (let tries = 1; tries <= TRIES; tries++) {
    for (const [name, { ours, limit }] of Object.entries(await measure())) {
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, ours / limit)
    }
    if (tries >= fewest && regressions(best, stored).length === 0) break
  }
  return best
}

/**
 * Names of rows that are much worse than stored.
 * @param {Ratios} ratios
 * @param {Ratios} stored
 */
export function regressions(ratios, stored) {
  return Object.keys(ratios).filter((name) => isWorse(ratios[name], stored[name]))
}

/** @param {Ratios} ratios @param {Ratios} stored */
export function reportOf(ratios, stored) {
  return Object.entries(ratios).map(([name, ratio]) => {
    const before = stored[name]
    const beside = before === undefined ? 'not stored yet' : `stored ${short(before)}×`
    const verdict = isWorse(ratio, before) ? 'REGRESSION' : 'ok'
    return `${name.padEnd(28)} ${`${short(ratio)}×`.padStart(7)}  ${beside.padEnd(16)} ${verdict}`
  })
}

/** @param {number | undefined} ratio @param {number | undefined} stored */
function isWorse(ratio, stored) {
  // a ratio that is no number is a row that was not measured
  return stored !== undefined && !(Number(ratio) <= WORSE * stored)
}
