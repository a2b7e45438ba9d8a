import { startLimit } from './child.mjs'
import { atRest, memoryOf, watchesOf } from './process-figures.mjs'
import { measureSaves } from './saves.mjs'

/** @import { Casefile } from './casefile.mjs' */
/** @import { Latency, Style } from './saves.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

/** @type {readonly Style[]} */
const STYLES = ['by rename', 'in place', 'in place, new end']
/** With other edits going on only here, and the first two of them, so that the whole takes minutes. */
const BUSY_SIZE = 5000
/** The limit tells of each system call: the lines of one save in place come within this. */
const ECHO_MS = 10

/** As the issue "Fast, and measured against the limit" sets them. */
const GOALS = {
  ...{ 'by rename': { p50: 60, p99: 200 }, 'in place': { p50: 160, p99: 400 } },
  'in place, new end': { p50: 160, p99: 400 },
}
const WATCHES_PER_CASE = 3
const MEMORY_RATIO = 1.5

/**
 * What a process holds that watches everything and is idle, and how soon it tells of a save. Stops it.
 * @param {Casefile} casefile
 * @param {Workspace} workspace
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function measureHeld(casefile, workspace, options) {
  const work = `${workspace.ids.length.toLocaleString('en')} cases`
  options.say(`${work}: Casefile at rest, then saves`)
  const stream = `${casefile.url}/events?after=now`
  const ours = await measureOne(casefile.pid, stream, workspace, options)
  await casefile.stop('SIGTERM')

  options.say(`${work}: the limit at rest, then saves`)
  const limit = startLimit(workspace.cases)
  options.onEnd(() => limit.stop('SIGKILL'))
  const { found } = await limit.line(/^listening on (\S+)/m)
  const least = await measureOne(limit.pid, String(found[1]), workspace, options, ECHO_MS)
  await limit.stop('SIGKILL')

  /** @type {Row[]} */
  const rows = [
    {
      ...{ what: 'inotify watches', work, unit: 'count' },
      ...{ ours: ours.watches, beside: 'folders', limit: workspace.folders },
      goal: { value: WATCHES_PER_CASE * workspace.ids.length },
    },
    {
      ...{ what: 'memory (RSS), all watched, idle', work, unit: 'bytes' },
      ...{ ours: ours.memory, beside: 'watcher', limit: least.memory },
      goal: { ratio: MEMORY_RATIO },
    },
  ]
  for (const [index, { style, busy, latency }] of ours.saved.entries()) {
    const what = `save ${style}${busy ? ', 10 others a second' : ''}`
    const bound = least.saved[index]?.latency
    if (bound) rows.push(...saveRows({ what, work, style, latency, bound }))
  }
  return rows
}

/**
 * @param {{ what: string, work: string, style: Style, latency: Latency, bound: Latency }} saved
 * @returns {Row[]}
 */
function saveRows({ what, work, style, latency, bound }) {
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
async function measureOne(pid, url, workspace, { saves, say }, echoMs = 0) {
  if (!(await atRest(pid))) say('it did not come to rest')
  const held = { watches: watchesOf(pid), memory: memoryOf(pid) }
  /** @type {{ style: Style, busy: boolean, latency: Latency }[]} */
  const saved = []
  const isBusySize = workspace.ids.length === BUSY_SIZE
  const kinds = STYLES.map((style) => ({ style, busy: false })).concat(
    STYLES.slice(0, isBusySize ? 2 : 0).map((style) => ({ style, busy: true })),
  )
  for (const { style, busy } of kinds) {
    const echo = style === 'by rename' ? 0 : echoMs
    const options = { url, workspace, style, count: saves, busy, echoMs: echo }
    saved.push({ style, busy, latency: await measureSaves(options) })
  }
  return { ...held, saved }
}
