import { startLimit } from './child.mjs'
import { atRest } from './process-figures.mjs'
import { measureSaves } from './saves.mjs'

/** @import { Casefile } from './casefile.mjs' */
/** @import { Latency, Style } from './saves.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

/** @type {readonly Style[]} */
const STYLES = ['by rename', 'in place', 'in place, new end']
/** With other edits going on too: the first two of them, so that the whole takes minutes. */
const BUSY = { sizes: [1000, 10_000], styles: STYLES.slice(0, 2) }
/** The limit tells of each system call: the lines of one save in place come within this. */
const ECHO_MS = 10

/** As the issue "Fast, and measured against the limit" sets them. */
const GOALS = {
  ...{ 'by rename': { p50: 60, p99: 200 }, 'in place': { p50: 160, p99: 400 } },
  'in place, new end': { p50: 160, p99: 400 },
}

/**
 * How soon a save is told.
 * @param {Casefile} casefile
 * @param {Workspace} workspace
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function savesRows(casefile, workspace, options) {
  const work = `${workspace.ids.length.toLocaleString('en')} cases`
  options.say(`${work}: saves`)
  const stream = `${casefile.url}/events?after=now`
  const ours = await measureAll(casefile.pid, stream, workspace, options)

  options.say(`${work}: the limit, saves`)
  const limit = startLimit(workspace.cases)
  options.onEnd(() => limit.stop('SIGKILL'))
  const { found } = await limit.line(/^listening on (\S+)/m)
  const least = await measureAll(limit.pid, String(found[1]), workspace, options, ECHO_MS)
  await limit.stop('SIGKILL')

  return ours.flatMap(({ style, busy, latency }, index) => {
    const what = `save ${style}${busy ? ', 10 others a second' : ''}`
    const bound = least[index]?.latency
    return bound ? rowsOf({ what, work, style, latency, bound }) : []
  })
}

/**
 * @param {{ what: string, work: string, style: Style, latency: Latency, bound: Latency }} saved
 * @returns {Row[]}
 */
function rowsOf({ what, work, style, latency, bound }) {
  return [
    .../** @type {const} */ (['p50', 'p99']).map((part) => ({
      ...{ what: `${what} → event, ${part}`, work, unit: /** @type {const} */ ('ms') },
      ...{ ours: latency[part], beside: 'watcher', limit: bound[part] },
      goal: { value: GOALS[style][part] },
    })),
    {
      ...{ what: `${what}: events`, work, unit: 'count' },
      ...{ ours: latency.events, beside: 'changes', limit: latency.saves, goal: { ratio: 1 } },
    },
  ]
}

/**
 * @param {number} pid
 * @param {string} url of its stream
 * @param {Workspace} workspace
 * @param {SuiteOptions} options
 * @param {number} [echoMs]
 */
async function measureAll(pid, url, workspace, { saves, say }, echoMs = 0) {
  if (!(await atRest(pid))) say('it did not come to rest')
  /** @type {{ style: Style, busy: boolean, latency: Latency }[]} */
  const saved = []
  const isBusySize = BUSY.sizes.includes(workspace.ids.length)
  const kinds = STYLES.map((style) => ({ style, busy: false })).concat(
    (isBusySize ? BUSY.styles : []).map((style) => ({ style, busy: true })),
  )
  for (const { style, busy } of kinds) {
    const echo = style === 'by rename' ? 0 : echoMs
    const options = { url, workspace, style, count: saves, busy, echoMs: echo }
    saved.push({ style, busy, latency: await measureSaves(options) })
  }
  return saved
}
