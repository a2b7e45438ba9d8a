import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startCasefile, startChild, untilIdle, untilWatching } from './processes.mjs'
import { cases, median } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Casefile } from './processes.mjs' */
/** @import { Row, Suite, SuiteOptions } from './suite.mjs' */

const ROUNDS = 9
/** Cases that each side changes in a round. */
const CHANGED = 10
const CLONES = 4
const PUSHING_MS = 30_000

/** What a careful person types instead; after a rejected push all of it is done again. */
const BY_HAND = [
  'git add -A',
  'if ! git diff --cached --quiet; then git commit --quiet --message Cases; fi',
  'git pull --quiet --no-rebase --no-edit',
  'git push --quiet',
].join(' && ')

/**
 * `POST /sync` beside the same by hand in git, where no two people change the same file; then how many pushes an hour
 * one remote takes from people who never stop.
 * @type {Suite}
 */
export const syncSuite = {
  sizes: [1000, 10_000],
  async *measure(size, options) {
    const record = makeRecord(size, options)
    yield* times(record, options)
    if (size === 1000) yield pushes(record, options)
  },
}

/** @param {ReturnType<typeof makeRecord>} record @param {SuiteOptions} options @returns {AsyncIterable<Row>} */
async function* times({ ids, openClone }, options) {
  const [other, byHand] = [openClone('other', 'origin'), openClone('by-hand', 'limit')]
  const otherByHand = openClone('other-by-hand', 'limit')
  const ours = openClone('ours', 'origin')
  const casefile = await startCasefile(ours, options)
  await untilWatching(casefile)
  const sync = () => timeOfSync(casefile)
  let turn = 0
  const change = (/** @type {{ memory: string }} */ { memory }) => {
    for (let index = 0; index < CHANGED; index++, turn++) {
      const id = String(ids[(turn * 7919) % ids.length]) // a prime: spread over all
      appendFileSync(join(memory, 'cases', id, 'notes.md'), `\nTurn ${turn}\n`)
    }
  }
  /** @type {[what: string, here: boolean, there: boolean][]} */
  const kinds = [
    ['nothing new', false, false],
    [`${CHANGED} cases changed here`, true, false],
    [`${CHANGED} others changed there too`, true, true],
  ]
  await sync() // reads git's index for the first time
  for (const [what, here, there] of kinds) {
    options.say(what)
    /** @type {{ ours: number[], limit: number[] }} */
    const both = { ours: [], limit: [] }
    for (let round = 0; round < ROUNDS; round++) {
      if (there)
        for (const clone of [other, otherByHand]) {
          change(clone)
          runByHand(clone)
        }
      if (here) for (const clone of [ours, byHand]) change(clone)
      await untilIdle(casefile.pid)
      both.limit.push(runByHand(byHand))
      both.ours.push(await sync())
    }
    yield {
      what: `sync, ${what}`,
      ours: median(both.ours),
      beside: 'add, commit, pull, push by hand',
      limit: median(both.limit),
      goal: {},
    }
  }
  await casefile.stop('SIGTERM')
}

/** @param {ReturnType<typeof makeRecord>} record @param {SuiteOptions} options @returns {Promise<Row>} */
async function pushes({ ids, openClone }, options) {
  options.say(`${CLONES} people push without a pause`)
  /** @param {string} name @param {string} origin @param {(clone: { memory: string }) => Promise<boolean>} push */
  const person = async (name, origin, push) => {
    const clone = openClone(name, origin)
    const id = String(ids[Number(name.at(-1)) * 7])
    return async () => {
      let count = 0
      for (const until = performance.now() + PUSHING_MS; performance.now() < until; ) {
        appendFileSync(join(clone.memory, 'cases', id, 'notes.md'), `\n${name} ${count}\n`)
        if (await push(clone)) count++
      }
      return count
    }
  }
  /** @param {(number: number) => Promise<() => Promise<number>>} open */
  const perHour = async (open) => {
    const people = []
    for (let number = 0; number < CLONES; number++) people.push(await open(number))
    const counts = await Promise.all(people.map((work) => work()))
    return (counts.reduce((sum, count) => sum + count, 0) * 3_600_000) / PUSHING_MS
  }
  const limit = await perHour((number) =>
    person(`hand${number}`, 'limit', async ({ memory }) => {
      const child = startChild(['-c', BY_HAND], { command: 'sh', cwd: memory })
      return child.end().then(
        () => true,
        () => false,
      )
    }),
  )
  const ours = await perHour(async (number) => {
    /** @type {Casefile | undefined} */
    let casefile
    return person(`sync${number}`, 'origin', async (clone) => {
      casefile ??= await startCasefile(/** @type {any} */ (clone), options)
      const { state } = await casefile.connection.ask('POST', '/sync', {})
      return state === 'in_sync'
    })
  })
  return {
    what: 'pushes that one remote takes',
    on: `${CLONES} people, ${cases(ids.length)}`,
    unit: 'perHour',
    ours,
    beside: 'the same by hand',
    limit,
    goal: {},
  }
}

/** @param {Casefile} casefile */
async function timeOfSync({ connection }) {
  const began = performance.now()
  const { state, reason } = await connection.ask('POST', '/sync', {})
  if (state !== 'in_sync') throw new Error(`the sync stopped: ${reason}`)
  return performance.now() - began
}

/** @param {{ memory: string }} clone */
function runByHand({ memory }) {
  const began = performance.now()
  execFileSync('sh', ['-c', BY_HAND], { cwd: memory, stdio: ['ignore', 'ignore', 'inherit'] })
  return performance.now() - began
}

/** A record in two bare repositories: one that is synced, and one for git alone. @param {number} size @param {SuiteOptions} options */
function makeRecord(size, { parent, say, onEnd }) {
  say(`${cases(size)} are made`)
  const workspace = makeWorkspace({ parent, count: size, seed: size })
  onEnd(workspace.remove)
  const memory = join(workspace.root, 'memory')
  const home = join(workspace.root, '..')
  /** @param {string} cwd @param {string[]} args */
  const git = (cwd, ...args) =>
    execFileSync('git', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  git(memory, 'init', '--quiet', '--initial-branch=main')
  name(memory)
  git(memory, 'add', '--all')
  git(memory, 'commit', '--quiet', '--message=Cases')
  for (const origin of ['origin', 'limit'])
    git(home, 'clone', '--quiet', '--bare', memory, `${origin}.git`)

  /** @param {string} cwd */
  function name(cwd) {
    git(cwd, 'config', 'user.name', 'Somebody')
    git(cwd, 'config', 'user.email', 'somebody@example.com')
  }

  /** @param {string} clone @param {string} origin */
  function openClone(clone, origin) {
    const root = join(home, clone)
    mkdirSync(root)
    git(home, 'clone', '--quiet', `${origin}.git`, join(root, 'memory'))
    name(join(root, 'memory'))
    return { root, memory: join(root, 'memory'), stateDir: join(home, `${clone}-state`) }
  }
  return { ids: workspace.ids, openClone }
}
