import { short, UNITS } from './suite.mjs'

/** @import { Row, Suite } from './suite.mjs' */

const HEAD = ['what', 'on', 'Casefile', 'beside', 'which has', 'ratio', 'goal', 'met']
const ALIGN = ['---', '---', '---:', '---', '---:', '---:', '---', '---']

/**
 * The rows as a markdown table, those of one kind together, and what they stand beside.
 * @param {readonly Row[]} rows
 * @param {Suite} suite
 */
export function tableOf(rows, { limits }) {
  const kinds = [...new Set(rows.map(({ what }) => what))]
  const lines = kinds.flatMap((what) => rows.filter((row) => row.what === what).map(cellsOf))
  const legend = Object.entries(limits).map(([name, text]) => `- **${name}**: ${text}`)
  const table = [HEAD, ALIGN, ...lines].map((cells) => `| ${cells.join(' | ')} |`)
  return `${table.join('\n')}\n\n${legend.join('\n')}`
}

/** @type {(row: Row, index: number) => string[]} */
function cellsOf({ what, work, unit, ours, beside, limit, goal }, index) {
  const ratio = ours / limit
  const goals = [
    ...(goal?.value === undefined ? [] : [`≤ ${UNITS[unit](goal.value)}`]),
    ...(goal?.ratio === undefined ? [] : [`≤ ${goal.ratio}×`]),
    ...(goal?.over === undefined ? [] : [`≤ + ${UNITS[unit](goal.over)}`]),
    ...(goal?.least === undefined ? [] : [`≥ ${goal.least}×`]),
  ]
  const isMet =
    ours <= (goal?.value ?? ours) &&
    ratio <= (goal?.ratio ?? ratio) &&
    ours - limit <= (goal?.over ?? ours) &&
    ratio >= (goal?.least ?? 0)
  return [
    ...[index === 0 ? what : '', work],
    ...[UNITS[unit](ours), beside, UNITS[unit](limit), `${short(ratio)}×`],
    ...[goals.join(', '), goals.length === 0 ? '' : isMet ? 'yes' : '**no**'],
  ]
}

/**
 * The page with what stands between the two marker comments of a suite replaced.
 * @param {string} page
 * @param {string} suite
 * @param {string} text
 */
export function withSection(page, suite, text) {
  const [begin, end] = [`<!-- bench:${suite} -->`, `<!-- /bench:${suite} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page has no ${begin} … ${end}`)
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`
}
