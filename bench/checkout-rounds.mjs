import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listenTo } from './event-lines.mjs'
import { median } from './figures.mjs'
import { getBody } from './get-body.mjs'
import { atRest } from './process-figures.mjs'

/** @import { Casefile } from './casefile.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const FILES = 2000
const ROUNDS = 5
const GIVE_UP_MS = 120_000
const GOAL_RATIO = 2

/**
 * A second branch with another title in every n-th case.md, 2,000 of them if there are as many cases.
 * Nothing may run on the workspace meanwhile.
 * @param {Workspace} workspace
 */
export function addBranch({ root, cases, ids }) {
  const every = Math.max(1, Math.floor(ids.length / FILES))
  const changed = ids.filter((_, index) => index % every === 0).slice(0, FILES)
  git(root, 'add', '--all')
  git(root, 'commit', '--quiet', '--message', 'as it was')
  git(root, 'branch', '--move', 'one')
  git(root, 'switch', '--quiet', '--create', 'two')
  for (const id of changed) {
    const path = join(cases, id, 'case.md')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(/^title: .*$/m, `title: On the branch two, ${id}`))
  }
  git(root, 'commit', '--quiet', '--all', '--message', 'other titles')
  git(root, 'switch', '--quiet', 'one')
  return changed
}

/**
 * From the start of `git switch` until an event for each changed case has come and the list is right,
 * beside the same switch in the other workspace, after which the files are read.
 * @param {{ casefile: Casefile, workspace: Workspace, other: Workspace, changed: readonly string[] }} sides
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function checkoutRows({ casefile, workspace, other, changed }, { say }) {
  const files = changed.length.toLocaleString('en')
  const work = `${files} files of ${workspace.ids.length.toLocaleString('en')} cases`
  if (!(await atRest(casefile.pid))) say('it did not come to rest')
  /** @type {number[]} */
  const ours = []
  /** @type {number[]} */
  const least = []
  let events = 0
  for (let round = 0; round < ROUNDS; round++) {
    const branch = round % 2 === 0 ? 'two' : 'one'
    least.push(await readAfterSwitch(other, changed, branch))
    say(`${work}: checkout ${round + 1}`)
    const told = await toldAfterSwitch(casefile.url, workspace, changed, branch)
    ours.push(told.ms)
    events += told.events
  }
  return [
    {
      ...{ what: 'git switch → all events, the list right', work, unit: 'ms' },
      ...{ ours: median(ours), beside: 'switch and read', limit: median(least) },
      goal: { ratio: GOAL_RATIO },
    },
    {
      ...{ what: 'git switch: events', work, unit: 'count', ours: events, beside: 'changes' },
      ...{ limit: ROUNDS * changed.length, goal: { ratio: 1 } },
    },
  ]
}

/** @type {(workspace: Workspace, changed: readonly string[], branch: string) => Promise<number>} */
async function readAfterSwitch({ root, cases }, changed, branch) {
  const began = performance.now()
  await switchTo(root, branch)
  for (const id of changed) readFileSync(join(cases, id, 'case.md'))
  return performance.now() - began
}

/** @type {(url: string, workspace: Workspace, changed: readonly string[], branch: string) => Promise<{ ms: number, events: number }>} */
async function toldAfterSwitch(url, { root, cases }, changed, branch) {
  const missing = new Set(changed)
  let events = 0
  let toldAt = 0
  let wake = () => {}
  const allTold = new Promise((resolve) => {
    wake = () => resolve(undefined)
  })
  const stream = await listenTo(`${url}/events?after=now`, ({ payload }, at) => {
    events++
    if (missing.delete(payload?.case_id) && missing.size === 0) {
      toldAt = at
      wake()
    }
  })
  const began = performance.now()
  await switchTo(root, branch)
  const timer = setTimeout(wake, GIVE_UP_MS)
  await allTold
  clearTimeout(timer)
  if (missing.size > 0) throw new Error(`${missing.size} changes of a checkout are not told`)
  let list = await getBody(`${url}/cases`)
  while (!isRight(list, cases, changed)) {
    if (performance.now() - began > GIVE_UP_MS) throw new Error('the list does not come right')
    toldAt = performance.now()
    list = await getBody(`${url}/cases`)
  }
  await new Promise((resolve) => setTimeout(resolve, 1000)) // an event too many would come by now
  stream.close()
  return { ms: toldAt - began, events }
}

/** @type {(list: string, cases: string, changed: readonly string[]) => boolean} */
function isRight(list, cases, changed) {
  /** @type {{ id: string, title: string }[]} */
  const all = JSON.parse(list)
  const titles = new Map(all.map(({ id, title }) => [id, title]))
  return changed.every((id) =>
    readFileSync(join(cases, id, 'case.md'), 'utf8').includes(`\ntitle: ${titles.get(id)}\n`),
  )
}

/** @type {(root: string, branch: string) => Promise<void>} */
async function switchTo(root, branch) {
  const child = spawn('git', ['-C', root, 'switch', '--quiet', branch], { stdio: 'inherit' })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`git switch ${branch} ended with ${code}`)
}

/** @type {(root: string, ...args: string[]) => void} */
function git(root, ...args) {
  const as = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', '-c', 'gc.auto=0']
  execFileSync('git', ['-C', root, ...as, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
}
