import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openWorkspace, startCasefile, startChild, timeOf, untilWatching } from './processes.mjs'
import { median } from './suite.mjs'

/** @import { Casefile } from './processes.mjs' */
/** @import { Row, Suite } from './suite.mjs' */

const ROUNDS = 10
const STEPS = 21
const CASES = 100
const POLL_MS = 5
/** A program that appends the time at which it runs. */
const STAMP = 'date +%s%N >> stamps.txt'

/**
 * What a session costs around the programs that it runs, by the number of files in the repository: planning with an
 * agent, the start of work, each further step.
 * @type {Suite}
 */
export const runsSuite = {
  sizes: [100, 3000, 50_000],
  async *measure(size, options) {
    const workspace = openWorkspace(CASES, options)
    const { root, stateDir } = workspace
    makeProject(root, size)
    const places = ['--root', root, '--state-dir', stateDir]
    await timeOf([options.program, 'doctor', '--trust', '--yes', ...places])
    const casefile = await startCasefile(workspace, options)
    await untilWatching(casefile)
    /** @type {{ plan: number[], end: number[], start: number[], step: number[], shell: number[] }} */
    const times = { plan: [], end: [], start: [], step: [], shell: [] }
    for (let round = 0; round < ROUNDS; round++) {
      options.say(`runs among ${size} files, round ${round + 1}`)
      const { plan, end } = await planTimes(casefile)
      times.plan.push(plan)
      times.end.push(end)
      const [first, ...rest] = await workTimes(casefile, root)
      times.start.push(Number(first))
      times.step.push(...rest)
      times.shell.push(...(await shellTimes(root)))
    }
    const limit = median(times.shell)
    /** @type {[what: string, name: keyof typeof times, goal: Row['goal']][]} */
    const rows = [
      ['POST a session → its agent runs', 'plan', { most: 120 }],
      ['the agent ends → plan_ready', 'end', { most: 100 }],
      ['approve → the first step runs', 'start', { most: 100 }],
      ['each further step', 'step', { ratio: 1.2 }],
    ]
    for (const [what, name, goal] of rows) {
      const on = `${size.toLocaleString('en')} files`
      yield { what, on, ours: median(times[name]), beside: 'a shell, started by Node', limit, goal }
    }
  },
}

/** Some committed files, and an agent that only writes when it begins and ends. @param {string} root @param {number} files */
function makeProject(root, files) {
  for (let index = 0; index < files; index++) {
    const folder = join(root, `folder-${index % 100}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${index}.txt`), `Line ${index}\n`.repeat(100))
  }
  writeFileSync(
    join(root, 'casefile.md'),
    '---\nproviders:\n  mine: { kind: command, plan: [/bin/sh, plan.sh] }\n---\n',
  )
  writeFileSync(
    join(root, 'plan.sh'),
    "cat > /dev/null\ndate +%s%N > /tmp/stamp-$CASEFILE_SESSION\nprintf '## Hypothesis\\n\\nIt is small.\\n\\n## Plan\\n\\n1. Make it bigger.\\n'\ndate +%s%N >> /tmp/stamp-$CASEFILE_SESSION\n",
  )
  writeFileSync(join(root, '.gitignore'), 'stamps.txt\n')
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: root,
    })
  git('add', '--', 'folder-*', 'plan.sh', 'casefile.md', '.gitignore')
  git('commit', '--quiet', '-m', 'first')
}

/** The times from the request until the agent runs, and from its end to the plan. @param {Casefile} casefile */
async function planTimes(casefile) {
  const { path, began } = await newSession(casefile, 'mine')
  await untilState(casefile, path, 'plan_ready')
  const ready = performance.timeOrigin + performance.now()
  const file = `/tmp/stamp-${path.split('/').at(-1)}`
  const [runs, ends] = stampsIn(file)
  rmSync(file)
  await casefile.connection.ask('POST', `${path}/abandon`, {})
  return { plan: Number(runs) - began, end: ready - Number(ends) }
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
