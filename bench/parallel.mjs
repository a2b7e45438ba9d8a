import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from './connection.mjs'
import { openWorkspace, startCasefile, untilWatching } from './processes.mjs'

/** @import { Casefile } from './processes.mjs' */
/** @import { Suite } from './suite.mjs' */

const SESSIONS = 3
const FILES = 2000
const PAUSE_MS = 5
/** The pause between two looks at the list of worktrees, as of an open page. */
const LOOK_MS = 700
/** A change, two seconds of other work, and a test. */
const PLAN = `\`\`\`sh run id=work
echo $$ > own.txt
for i in 1 2 3 4 5 6; do sleep 0.3; done
\`\`\`

\`\`\`sh run id=test proof=tap
printf '1..1\\nok 1 - alone\\n'
\`\`\`
`

/**
 * Answers while sessions work side by side, each in a worktree of one repository.
 * @type {Suite}
 */
export const parallelSuite = {
  sizes: [100],
  async *measure(size, options) {
    const workspace = openWorkspace(size, options)
    makeProject(workspace.root)
    const casefile = await startCasefile(workspace, options)
    await untilWatching(casefile)
    const { connection } = casefile
    const [{ id }] = await connection.ask('GET', '/cases?limit=1')
    const idle = await times(casefile, id, delay(5000))
    options.say(`${SESSIONS} sessions`)
    const paths = []
    for (let index = 0; index < SESSIONS; index++) paths.push(await newSession(casefile))
    const busy = await times(casefile, id, allDone(casefile, paths))
    yield {
      what: `GET a case while ${SESSIONS} sessions run, p99`,
      ours: p99(busy),
      beside: 'while none runs',
      limit: p99(idle),
      goal: { most: 50 },
    }
  },
}

/** @param {string} root */
function makeProject(root) {
  for (let index = 0; index < FILES; index++) {
    const folder = join(root, `src/${index % 40}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${index}.txt`), `Line ${index}\n`)
  }
  const settings = `---\nisolation: worktree\nparallel: ${SESSIONS}\n---\n`
  writeFileSync(join(root, 'casefile.md'), settings)
  for (const args of [
    ['add', '--', 'src', 'casefile.md'],
    ['commit', '--quiet', '-m', 'first'],
  ]) {
    const as = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    execFileSync('git', [...as, ...args], { cwd: root })
  }
}

/** The path of a session whose plan waits for approval. @param {Casefile} casefile */
async function newSession({ connection }) {
  const { id } = await connection.ask('POST', '/cases', { title: 'A case' })
  const wanted = { type: 'implementing', provider: 'runbook' }
  const session = await connection.ask('POST', `/cases/${id}/sessions`, wanted)
  const path = `/cases/${id}/sessions/${session.id}`
  while ((await connection.ask('GET', path)).state !== 'plan_ready') await delay(PAUSE_MS)
  await connection.ask('PUT', `${path}/plan`, { plan: PLAN })
  return path
}

/** @param {Casefile} casefile @param {string[]} paths */
async function allDone({ connection }, paths) {
  for (const path of paths) await connection.ask('POST', `${path}/approve`, {})
  for (const path of paths) {
    for (;;) {
      const { state, output } = await connection.ask('GET', path)
      if (state === 'complete') break
      if (state === 'failed') throw new Error(output)
      await delay(LOOK_MS)
    }
  }
}

/** How long the answers took until `end`. @param {Casefile} casefile @param {string} id @param {Promise<unknown>} end */
async function times({ port }, id, end) {
  const connection = openConnection(port)
  let isOver = false
  const ended = end.finally(() => {
    isOver = true
  })
  const taken = []
  while (!isOver) {
    const began = performance.now()
    await connection.ask('GET', `/cases/${id}`)
    taken.push(performance.now() - began)
    await delay(PAUSE_MS)
  }
  await ended
  connection.close()
  return taken
}

/** @param {number[]} taken */
function p99(taken) {
  const sorted = taken.toSorted((a, b) => a - b)
  return /** @type {number} */ (sorted[Math.floor(sorted.length * 0.99)])
}
