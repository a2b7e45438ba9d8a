import { startLimit } from './child.mjs'
import { getBody } from './get-body.mjs'
import { atRest, memoryOf, watchesOf } from './process-figures.mjs'

/** @import { Casefile } from './casefile.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

/** As the issue "Fast, and measured against the limit" sets them. */
const WATCHES_PER_CASE = 3
const MEMORY_RATIO = 1.5

/**
 * What a process holds that watches everything and is idle, before and after it was asked for the
 * whole list. Stops it.
 * @param {Casefile} casefile
 * @param {Workspace} workspace
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function measureHeld(casefile, workspace, { say, onEnd }) {
  const work = `${workspace.ids.length.toLocaleString('en')} cases`
  const rest = async (/** @type {number} */ pid) => {
    if (!(await atRest(pid))) say('it did not come to rest')
    return memoryOf(pid)
  }
  say(`${work}: what it holds at rest`)
  const memory = await rest(casefile.pid)
  const watches = watchesOf(casefile.pid)
  await getBody(`${casefile.url}/cases`)
  const listed = await rest(casefile.pid)
  await casefile.stop('SIGTERM')

  const limit = startLimit(workspace.cases)
  onEnd(() => limit.stop('SIGKILL'))
  await limit.line(/^listening on /m)
  const least = await rest(limit.pid)
  await limit.stop('SIGKILL')

  const bytes = /** @type {const} */ ({ work, unit: 'bytes', beside: 'watcher', limit: least })
  return [
    {
      ...{ what: 'memory (RSS), all watched, idle', ...bytes, ours: memory },
      goal: { ratio: MEMORY_RATIO },
    },
    { what: 'memory (RSS), the same after a list', ...bytes, ours: listed },
    {
      ...{ what: 'inotify watches', work, unit: 'count' },
      ...{ ours: watches, beside: 'folders', limit: workspace.folders },
      goal: { value: WATCHES_PER_CASE * workspace.ids.length },
    },
  ]
}
