import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readProc, readProcLink } from '../../src/platform/proc.ts'
import { processIds, processStat } from '../../src/platform/processes.ts'
import { noSandbox, openSandbox, type Sandbox } from '../../src/runners/enclosure/sandbox.ts'
import { runStepProcess } from '../../src/runners/enclosure/step-process.ts'
import { killRun, killRunById } from '../../src/runners/process/kill-run.ts'
import {
  findRunProcesses,
  type IdentifiedRun,
  type RunProcess,
  runProcess,
} from '../../src/runners/process/run-processes.ts'
import { built } from '../fixtures/built.ts'
import { cpuTime } from '../fixtures/cpu-time.ts'
import { inLongLane } from '../fixtures/full.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'

const isLinux = process.platform === 'linux'
const linuxOnly = isLinux ? {} : { skip: '/proc is on Linux only' }
const PATH = process.env.PATH ?? '/usr/bin:/bin'
const { endRun } = SHORT_LIMITS
/** Others may run the same test at the same time. */
const [ID, MARK] = [randomUUID(), randomUUID()]

const guarded = await guardWith(ID)
t.teardown(guarded.remove)
const here =
  guarded.sandbox.kind === 'mount' ? {} : { skip: `no sandbox: ${guarded.sandbox.reason}` }

/** A sandbox as a session has it: state hidden, the folder of its own run shown again. */
async function guardWith(id: string) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'casefile-sweep-')))
  const [state, records] = [join(base, 'state'), join(base, 'records')]
  const run = join(state, 'scratch', `work-${id}`)
  for (const folder of [run, records]) mkdirSync(folder, { recursive: true })
  const sandbox = await openSandbox({ readOnly: [records], hidden: [state], open: [run] })
  const remove = async () => {
    await sandbox.end()
    rmSync(base, { recursive: true, force: true })
  }
  return { sandbox, run, remove }
}

let count = 0

/** Runs a shell to its end that has left `sleep` behind; both as the run knows them. */
async function leftBehind(t: Test, words: string, sandbox: Sandbox) {
  const processes: RunProcess[] = []
  const time = `60.${process.pid}${++count}`
  let said = ''
  const result = await runStepProcess({
    argv: ['/bin/sh', '-c', `(${words} sh -c 'echo $$; exec sleep ${time}' &)`],
    cwd: '/',
    env: { PATH, CASEFILE_RUN: MARK },
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    sandbox,
    onStart: (pid) => void processes.push(runProcess(pid)),
    onOutput(_, bytes) {
      said += bytes
    },
  })
  t.match(result, { exit: 0 }, result.startError ?? '')
  t.ok(Number(said) > 1, said)
  // in a process namespace it says another id
  let orphan: number | undefined
  while (orphan === undefined) {
    await delay(5)
    orphan = processIds().find((pid) => commandOf(pid) === `sleep\0${time}\0`)
  }
  t.teardown(() => isAlive(orphan) && process.kill(orphan, 'SIGKILL'))
  return { orphan, processes }
}

const commandOf = (pid: number) => readProc(`${pid}/cmdline`)

const isAlive = (pid: number) => !['Z', 'X', undefined].includes(processStat(pid)?.state)

/** A process that has been killed is seen for a moment longer: it loses what it is known by before its state. */
async function isGone(pid: number): Promise<boolean> {
  const end = performance.now() + 60_000
  while (isAlive(pid) && performance.now() < end) await delay(10)
  return !isAlive(pid)
}

const SHED = 'env -i setsid'

t.test('what is left out as a thread of the kernel runs no program', linuxOnly, (t) => {
  const threads = processIds().filter((pid) => processStat(pid)?.isKernel)
  const programs = threads.filter((pid) => readProcLink(`${pid}/exe`) !== null)
  t.strictSame(programs, [])
  const isShown = readProc('2/comm') === 'kthreadd\n' // in a container it is not
  t.equal(threads.includes(2), isShown)
  t.match(processStat(process.pid), { isKernel: false })
  t.end()
})

t.test('what has shed its run id under a guard', { ...here, ...inLongLane }, async (t) => {
  const { sandbox, run: folder, remove } = await guardWith(ID)
  t.teardown(remove)
  const known: [name: string, words: string, run: (left: RunProcess[]) => IdentifiedRun][] = [
    ['at the end of its run', SHED, (processes) => ({ runId: MARK, processes, folderId: ID })],
    ['by a later service', SHED, () => ({ runId: MARK, processes: [], folderId: ID })],
    [
      'in one more namespace',
      `${SHED} unshare --user --map-root-user --mount`,
      (processes) => ({ runId: MARK, processes, folderId: ID }),
    ],
    [
      'when the folder of the run is gone',
      SHED,
      () => {
        rmSync(folder, { recursive: true })
        return { runId: MARK, processes: [], folderId: ID }
      },
    ],
  ]
  for (const [name, words, runOf] of known) {
    await t.test(`is ended ${name}`, async (t) => {
      const { orphan, processes } = await leftBehind(t, words, sandbox)
      const run = runOf(processes)
      t.ok(isAlive(orphan))
      t.equal(await killRun(run, endRun), 1)
      t.ok(await isGone(orphan))
      t.equal(await killRun(run, endRun), 0)
    })
  }
})

t.test('strangers live on', here, async (t) => {
  const other = await guardWith(randomUUID())
  t.teardown(other.remove)
  const others = [
    await leftBehind(t, SHED, noSandbox()),
    await leftBehind(t, SHED, other.sandbox),
    await leftBehind(t, `${SHED} unshare --user --map-root-user --mount`, noSandbox()),
  ]
  const run = { runId: randomUUID(), processes: [], folderId: ID }
  t.equal(await killRun(run, endRun), 0)
  for (const { orphan } of others) t.ok(isAlive(orphan))
})

t.test('without a guard', linuxOnly, async (t) => {
  await t.test('what stays in its session is found', async (t) => {
    const { orphan, processes } = await leftBehind(t, 'env -i', noSandbox())
    t.equal(await killRun({ runId: MARK, processes }, endRun), 1)
    t.ok(await isGone(orphan))
  })

  await t.test('what has shed its run id, session and parents is not: a known limit', async (t) => {
    const { orphan, processes } = await leftBehind(t, SHED, noSandbox())
    const run = { runId: MARK, processes, folderId: ID }
    t.equal(await killRun(run, endRun), 0)
    t.ok(isAlive(orphan))
  })
})

t.test('what has the run id', linuxOnly, async (t) => {
  const runId = `m-${process.pid}-${Date.now()}`
  const marked = async (script: string, value = runId): Promise<ChildProcess> => {
    const child = spawn('/bin/sh', ['-c', `${script} & echo $!; wait`], {
      env: { PATH, CASEFILE_RUN: value },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await once(child.stdout, 'data')
    return child
  }

  t.test('is ended, and no other', async (t) => {
    await marked('sleep 60')
    await marked('setsid sh -c "trap \'\' TERM; exec sleep 60"')
    const other = await marked('sleep 60', `${runId}-not`)
    t.teardown(() => killRunById(`${runId}-not`))
    t.equal(await killRunById(runId, endRun), 4, 'two shells and their children')
    t.ok(isAlive(other.pid ?? 0), 'a run id that only begins alike is another one')
  })

  t.test('is not ended if it is the one that ends the others', async (t) => {
    // Node started with the run id sweeps for it: /proc shows the environment a process began with.
    const script = `
      const { killRunById } = await import(process.env.SWEEP)
      const { spawn } = await import('node:child_process')
      spawn('sleep', ['60'])
      console.log(await killRunById(process.env.CASEFILE_RUN))`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: {
        ...process.env,
        CASEFILE_RUN: `${runId}-self`,
        SWEEP: built('src/runners/process/kill-run.ts'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.on('data', (bytes) => {
      said += bytes
    })
    const [exit] = await once(child, 'close')
    t.equal(exit, 0)
    t.match(said, /^[1-9]/)
  })

  t.test('is not waited for if it is a zombie', async (t) => {
    // The shell becomes a program that never reaps the child it was left with.
    const child = spawn('/bin/sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'], {
      env: { PATH, CASEFILE_RUN: `${runId}-child` },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    const [bytes] = await once(child.stdout, 'data')
    const zombie = Number(String(bytes))
    while (processStat(zombie)?.state !== 'Z') await delay(10)
    const run = { runId: `${runId}-child`, processes: [runProcess(child.pid!)] }
    t.strictSame([...findRunProcesses([run]).keys()], [child.pid], 'only its parent is alive')
    t.equal(await killRun(run, 60_000), 1)
  })
})

t.test('what forks and exits all the time', { ...linuxOnly, ...inLongLane }, async (t) => {
  const chain = join(t.testdir({ chain: 'sh "$0" &\n' }), 'chain')
  for (let count = 0; count < 10; count++) {
    const mark = { CASEFILE_RUN: `chain-${process.pid}-${count}` }
    const leader = spawn('/bin/sh', [chain], {
      detached: true,
      stdio: 'ignore',
      env: { PATH, ...mark },
    })
    const run = { runId: mark.CASEFILE_RUN, processes: [runProcess(leader.pid!)] }
    await once(leader, 'exit')
    await killRun(run, 0)
    t.strictSame([...findRunProcesses([run]).keys()], [])
  }
})

t.test('the id of a leader that has ended', linuxOnly, async (t) => {
  const { orphan, processes } = await leftBehind(t, 'env -i', noSandbox())
  const [leader] = processes as [RunProcess]
  const find = (noted: RunProcess) =>
    findRunProcesses([{ runId: MARK, processes: [noted] }]).has(orphan)
  t.ok(find(leader))

  const words = ['-c', 'sleep 60 & echo $!; wait']
  const another = spawn('/bin/sh', words, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => process.kill(-another.pid!, 'SIGKILL'))
  const [child] = await once(another.stdout, 'data')
  const inIts = (noted: RunProcess) =>
    findRunProcesses([{ runId: MARK, processes: [noted] }]).has(Number(child))
  t.ok(inIts(runProcess(another.pid!)))
  t.notOk(inIts({ ...leader, pid: another.pid! }), 'is that of another one now')
})

t.test('a sweep that finds nothing is short', { ...here, ...inLongLane }, async (t) => {
  const words = ['-c', 'for i in $(seq 300); do sleep 60 & done; echo ready; wait']
  const crowd = spawn('/bin/sh', words, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => process.kill(-crowd.pid!, 'SIGKILL'))
  await once(crowd.stdout, 'data')
  const { processes } = await leftBehind(t, '', guarded.sandbox)
  await killRun({ runId: MARK, processes, folderId: ID }, endRun)
  const sweep = async () =>
    t.equal(await killRun({ runId: MARK, processes, folderId: ID }, endRun), 0)
  const took = await cpuTime(sweep, { tries: 9, enough: 250 })
  t.ok(took < 250, `${took.toFixed(1)} ms`)
})
