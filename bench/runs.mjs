import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openWorkspace, startCasefile, startChild, timeOf, untilWatching } from './processes.mjs'
import { median } from './suite.mjs'

/** @import { Casefile } from './processes.mjs' */
/** @import { Suite } from './suite.mjs' */

const ROUNDS = 10
const STEPS = 21
const FILES = 100
const POLL_MS = 5
/** A program that appends the time at which it runs. */
const STAMP = 'date +%s%N >> stamps.txt'

/**
 * What a session costs around the programs that it runs: planning with an agent, the start of work, each further step.
 * @type {Suite}
 */
export const runsSuite = {
  sizes: [100],
  async *measure(size, options) {
    const workspace = openWorkspace(size, options)
    const { root, stateDir } = workspace
    makeProject(root)
    const places = ['--root', root, '--state-dir', stateDir]
    await timeOf([options.program, 'trust', '--yes', ...places])
    const casefile = await startCasefile(workspace, options)
    await untilWatching(casefile)
    /** @type {{ plan: number[], start: number[], step: number[], shell: number[] }} */
    const times = { plan: [], start: [], step: [], shell: [] }
    for (let round = 0; round < ROUNDS; round++) {
      options.say(`runs, round ${round + 1}`)
      times.plan.push(await planTime(casefile))
      const [first, ...rest] = await workTimes(casefile, root)
      times.start.push(Number(first))
      times.step.push(...rest)
      times.shell.push(...(await shellTimes(root)))
    }
    const limit = median(times.shell)
    const beside = 'a shell, started by Node'
    const ours = (/** @type {keyof typeof times} */ name) => median(times[name])
    yield {
      what: 'POST a session → its agent runs',
      ours: ours('plan'),
      beside,
      limit,
      goal: {},
    }
    yield {
      what: 'approve → the first step runs',
      ours: ours('start'),
      beside,
      limit,
      goal: { most: 150 },
    }
    yield { what: 'each further step', ours: ours('step'), beside, limit, goal: { most: 20 } }
  },
}

/** Some committed files, and an agent that only tells when it runs. @param {string} root */
function makeProject(root) {
  for (let index = 0; index < FILES; index++)
    writeFileSync(join(root, `file-${index}.txt`), `Line ${index}\n`.repeat(100))
  writeFileSync(
    join(root, 'casefile.md'),
    '---\nproviders:\n  mine: { kind: command, plan: [/bin/sh, plan.sh] }\n---\n',
  )
  writeFileSync(
    join(root, 'plan.sh'),
    "cat > /dev/null\ndate +%s%N > /tmp/stamp-$CASEFILE_SESSION\nprintf '## Hypothesis\\n\\nIt is small.\\n\\n## Plan\\n\\n1. Make it bigger.\\n'\n",
  )
  writeFileSync(join(root, '.gitignore'), 'stamps.txt\n')
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: root,
    })
  git('add', '--', '*.txt', 'plan.sh', 'casefile.md', '.gitignore')
  git('commit', '--quiet', '-m', 'first')
}

/** @param {Casefile} casefile */
async function planTime(casefile) {
  const { path, began } = await newSession(casefile, 'mine')
  await untilState(casefile, path, 'plan_ready')
  const file = `/tmp/stamp-${path.split('/').at(-1)}`
  const [stamp] = stampsIn(file)
  rmSync(file)
  await casefile.connection.ask('POST', `${path}/abandon`, {})
  return Number(stamp) - began
}

/** The time until the first step runs, and from each step to the next. @param {Casefile} casefile @param {string} root */
async function workTimes(casefile, root) {
  const { connection } = casefile
  const { path } = await newSession(casefile, 'runbook')
  await untilState(casefile, path, 'plan_ready')
  const fences = Array.from(
    { length: STEPS },
    (_, at) => `\`\`\`sh run id=s${at}\n${STAMP}\n\`\`\`\n`,
  )
  await connection.ask('PUT', `${path}/plan`, { plan: fences.join('\n') })
  const file = join(root, 'stamps.txt')
  const began = Date.now()
  await connection.ask('POST', `${path}/approve`, {})
  await untilState(casefile, path, 'complete')
  const stamps = [began, ...stampsIn(file)]
  rmSync(file)
  return stamps.slice(1).map((stamp, at) => stamp - Number(stamps[at]))
}

/** Times from the call of `spawn` until a shell runs. @param {string} root */
async function shellTimes(root) {
  const file = join(root, 'stamps.txt')
  const times = []
  for (let turn = 0; turn < 3; turn++) {
    const began = performance.timeOrigin + performance.now()
    await startChild(['-c', STAMP], { command: '/bin/sh', cwd: root }).end()
    times.push(Number(stampsIn(file)[0]) - began)
    rmSync(file)
  }
  return times
}

/** Milliseconds since 1970. @param {string} file */
function stampsIn(file) {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Number(line) / 1e6)
}

/** @param {Casefile} casefile @param {string} provider */
async function newSession({ connection }, provider) {
  const { id } = await connection.ask('POST', '/cases', { title: 'A case' })
  const began = performance.timeOrigin + performance.now()
  const wanted = { type: 'implementing', provider }
  const session = await connection.ask('POST', `/cases/${id}/sessions`, wanted)
  return { path: `/cases/${id}/sessions/${session.id}`, began }
}

/** @param {Casefile} casefile @param {string} path @param {string} state */
async function untilState({ connection }, path, state) {
  for (;;) {
    const session = await connection.ask('GET', path)
    if (session.state === state) return
    if (['failed', 'abandoned'].includes(session.state))
      throw new Error(`${path} is ${session.state}: ${session.output}`)
    await delay(POLL_MS)
  }
}
