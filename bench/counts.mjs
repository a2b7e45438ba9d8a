import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from './connection.mjs'
import { openIdle, startChild, untilWatching } from './processes.mjs'

/** @import { Casefile } from './processes.mjs' */
/** @import { Suite, SuiteOptions } from './suite.mjs' */

/** What is written after an answer is written by then: rows, history.md, the search. */
const SETTLED_MS = 8000
const IDLE_MS = 20_000
const STEP = '/bin/true'
const STEPS = 6
/** @param {number} steps */
const runbook = (steps) => `## Plan\n\n${`\`\`\`sh run\n${STEP}\n\`\`\`\n\n`.repeat(steps)}`

/**
 * What an act costs, counted by strace: no matter how busy the machine is, the numbers are the same.
 * @type {Suite}
 */
export const countsSuite = {
  sizes: [300],
  async *measure(size, options) {
    const casefile = await openIdle(size, options)
    const { ids, cases, connection, pid } = casefile
    const [first, second, third] = ids.map((id) => `/cases/${id}`)
    await connection.ask('PUT', String(first), { title: 'What loads first' })
    await connection.ask('PUT', String(second), { title: 'Makes history.md' })
    await delay(SETTLED_MS)
    await connection.ask('GET', String(second)) // as a client reads what it changes

    options.say('PUT of a title')
    const put = await traced(pid, async () => {
      await connection.ask('PUT', String(second), { title: 'Counted' })
    })
    yield count('PUT title, before the answer: syncs', put.before.syncs, 3)
    yield count('PUT title, before the answer: system calls', put.before.calls, 45)
    yield count('PUT title, in all: syncs', put.all.syncs, 4)
    yield count('PUT title, in all: programs', put.all.programs, 0)

    options.say('a save in an editor')
    const file = join(cases, String(ids[4]), 'case.md')
    const edit = await traced(pid, async () => {
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^title: .*/m, 'title: By hand'))
    })
    yield count('hand edit: programs', edit.all.programs, 0)
    yield count('hand edit: syncs', edit.all.syncs, 4)
    yield count('hand edit: the file is opened', edit.opened(file), 1)

    options.say('a runbook')
    const one = await tracedRun(casefile, String(third), 1)
    yield count('POST runbook session → plan_ready: syncs', one.plan.before.syncs, 12)
    yield count('POST runbook session → plan_ready: programs', one.plan.before.programs, 0)
    yield count('approve → the first step: programs', one.work.programsUntil(STEP), 12)
    const { work } = await tracedRun(casefile, String(third), STEPS)
    const further = STEPS - 1
    const more = (/** @type {'programs' | 'syncs'} */ name) =>
      (work.before[name] - one.work.before[name]) / further
    yield count('each further step: programs', more('programs') - 1, 2) // without what its text starts
    yield count('each further step: syncs', more('syncs'), 3)
    yield count(`approve → complete, ${STEPS} steps: programs`, work.before.programs - STEPS, 30)
    yield count(`approve → complete, ${STEPS} steps: syncs`, work.before.syncs, 45)

    options.say('nothing')
    await delay(35_000) // what runs after half a minute of quiet has run
    const idle = await traced(pid, () => delay(IDLE_MS), 0)
    yield count('20 s with nothing to do: programs, syncs', idle.all.programs + idle.all.syncs, 0)
    yield count('20 s with nothing to do: seconds with a look at files', idle.all.seconds, 2)

    await casefile.stop('SIGTERM')

    for (const [name, stateDir, most] of /** @type {const} */ ([
      ['warm', casefile.stateDir, 0],
      ['cold', `${casefile.stateDir}-new`, 1],
    ])) {
      options.say(`a ${name} start`)
      const { opened, files } = await tracedStart({ ...casefile, stateDir }, options)
      yield count(`${name} start: a file of a case is opened, mean`, opened / files, most)
    }
  },
}

const STRACE = ['-f', '-tt', '-y', '-s', '400']
const SYNC = /\b(?:fsync|fdatasync)\(/
const PROGRAM = /\bexecve\(/
const LOOK = /\b(?:statx|stat|lstat|newfstatat|readlink|openat|open|access|faccessat2?)\(/
const ANSWER = /\b(?:writev?|sendto)\(.*HTTP\/1\.1 /

/** @param {string} what @param {number} ours @param {number} most */
function count(what, ours, most) {
  return {
    what,
    unit: /** @type {const} */ ('count'),
    ours,
    beside: '',
    limit: most,
    goal: { most },
  }
}

/**
 * The system calls of the service while it acts, and for a while after: `before` are those until the last answer.
 * @param {number} pid @param {() => Promise<unknown>} act
 */
async function traced(pid, act, settleMs = SETTLED_MS) {
  const processes = [pid, ...descendants(pid)].flatMap((each) => ['-p', String(each)])
  const strace = spawn('strace', [...STRACE, ...processes], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let text = ''
  strace.stderr.setEncoding('utf8').on('data', (/** @type {string} */ more) => {
    text += more
  })
  const ended = once(strace, 'close')
  while (text.split(' attached').length * 2 <= processes.length)
    await Promise.race([once(strace.stderr, 'data'), ended])
  await act()
  await delay(settleMs)
  strace.kill('SIGINT')
  await ended
  const lines = text.split('\n').filter((line) => /^\[pid|^\d/.test(line) && !/resumed>/.test(line))
  const answered = lines.findLastIndex((line) => ANSWER.test(line))
  return {
    before: countsOf(lines.slice(0, answered)),
    all: countsOf(lines),
    programsUntil(/** @type {string} */ file) {
      const at = lines.findIndex((line) => line.includes(`execve("${file}"`))
      return countsOf(lines.slice(0, at)).programs
    },
    opened: (/** @type {string} */ file) =>
      lines.filter((line) => /\bopenat\(/.test(line) && line.includes(file)).length,
  }
}

/** Traces the plan of a runbook, then its work. @param {Casefile} casefile @param {string} path of the case @param {number} steps */
async function tracedRun(casefile, path, steps) {
  const { connection, pid, url } = casefile
  const file = `${url}${path}/memory/runbook.md`
  const { ok } = await fetch(file, { method: 'PUT', body: runbook(steps) })
  if (!ok) throw new Error(`${file} cannot be written`)
  await delay(SETTLED_MS)
  let session = ''
  const plan = await traced(pid, async () => {
    const wanted = { type: 'implementing', provider: 'runbook' }
    const made = await connection.ask('POST', `${path}/sessions`, wanted)
    session = `${path}/sessions/${made.id}`
    await untilState(casefile, session, 'plan_ready')
  })
  const work = await traced(pid, async () => {
    await connection.ask('POST', `${session}/approve`)
    await untilState(casefile, session, 'complete')
  })
  return { plan, work }
}

/** Such as the process that starts git. @param {number} pid @returns {number[]} */
function descendants(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .split(' ')
    .filter((word) => word !== '')
    .map(Number)
  return children.flatMap((child) => [child, ...descendants(child)])
}

/** @param {readonly string[]} lines */
function countsOf(lines) {
  const of = (/** @type {RegExp} */ pattern) => lines.filter((line) => pattern.test(line)).length
  const calls =
    of(/\w\(/) -
    of(
      /\b(?:epoll_\w+|futex|(?:read|write)\(\d+<anon_inode|madvise|mprotect|mmap|munmap|getrusage)\b/,
    )
  // the heartbeat of the lock, for machines that share the state folder, is no look at the files
  const looks = lines.filter((line) => LOOK.test(line) && !line.includes('/owner.lock"'))
  const seconds = new Set(looks.map((line) => /\d\d:\d\d:\d\d/.exec(line)?.[0])).size
  return { calls, syncs: of(SYNC), programs: of(PROGRAM), seconds }
}

/** @param {{ root: string, stateDir: string, cases: string }} workspace @param {SuiteOptions} options */
async function tracedStart({ root, stateDir, cases }, { program, onEnd }) {
  const out = join(root, '..', 'start.strace')
  const serve = ['serve', '--port', '0', '--root', root, '--state-dir', stateDir]
  const args = [
    '-D',
    ...STRACE,
    '-e',
    'trace=openat',
    '-o',
    out,
    process.execPath,
    program,
    ...serve,
  ]
  const child = startChild(args, { command: 'strace' })
  onEnd(() => child.stop('SIGTERM'))
  const { found } = await child.line(/^Casefile is listening on (http:\S+)$/m)
  const connection = openConnection(Number(new URL(String(found[1])).port))
  await connection.ask('GET', '/cases')
  await untilWatching({ connection })
  await delay(SETTLED_MS)
  await child.stop('SIGTERM')
  await delay(1000) // strace writes the rest
  const opened = readFileSync(out, 'latin1')
    .split('\n')
    .filter((line) => line.includes(`"${cases}/`) && line.includes('.md"'))
  const names = readdirSync(cases, { recursive: true }).filter((name) =>
    String(name).endsWith('.md'),
  )
  return { opened: opened.length, files: names.length }
}

/** @param {Casefile} casefile @param {string} path @param {string} state */
async function untilState({ connection }, path, state) {
  for (;;) {
    const session = await connection.ask('GET', path)
    if (session.state === state) return
    if (session.state === 'failed') throw new Error(`${path} failed: ${session.output}`)
    await delay(50)
  }
}
