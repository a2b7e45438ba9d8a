import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { access, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { AppError } from '../../src/model/app-error.ts'
import { socketAddress } from '../../src/platform/local-socket.ts'
import { askOwner, ownerAddress } from '../../src/state/owner/find-owner.ts'
import {
  isGone,
  isTaken,
  type Owner,
  parseAnswer,
  thisProcess,
} from '../../src/state/owner/owner-file.ts'
import { askSocket, holdSocket } from '../../src/state/owner/owner-socket.ts'
import { takeOwnership } from '../../src/state/owner/ownership.ts'
import { holdLock } from '../../src/state/owner/state-lock.ts'
import { built } from '../fixtures/built.ts'
import { isFull, isLong } from '../fixtures/full.ts'
import type { Order, Report } from '../fixtures/owner-process.ts'

const fixture = built('test/fixtures/owner-process.ts')
const NOBODY = 65_534
/** With each lock that may lie there. */
const ROUNDS = isFull ? 40 : isLong ? 8 : 1
const RACERS = isLong ? 6 : 4

async function startOwner(t: Test): Promise<ChildProcess> {
  const child = fork(fixture, {})
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return child
}

async function notify(child: ChildProcess, order: Order): Promise<Report> {
  const answer = once(child, 'message')
  child.send(order)
  return (await answer)[0] as Report
}

async function killHard(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

function folders(t: Test, ...names: string[]): string[] {
  const root = t.testdir(Object.fromEntries(names.map((name) => [name, {}])))
  return names.map((name) => join(root, name))
}

async function deadRecord(): Promise<Owner> {
  return { ...thisProcess(), started: '1' }
}

async function leaveLock(stateDir: string, record: object | null, age = 0): Promise<void> {
  await mkdir(join(stateDir, 'owner.lock'), { recursive: true })
  const then = Date.now() / 1000 - age
  await utimes(join(stateDir, 'owner.lock'), then, then)
  if (record) await writeFile(join(stateDir, 'owner.json'), JSON.stringify(record))
  else await rm(join(stateDir, 'owner.json'), { force: true })
}

t.test('one process owns a memory root', async (t) => {
  const racers = await Promise.all(Array.from({ length: RACERS }, () => startOwner(t)))
  const [first, second] = racers as [ChildProcess, ChildProcess]

  await t.test('of all racers exactly one, whatever lock lies there', async (t) => {
    const [memoryRoot, stateDir] = folders(t, 'memory', 'state') as [string, string]
    const leftovers: [string, () => Promise<void>][] = [
      ['nothing', async () => {}],
      ['a stale lock', async () => leaveLock(stateDir, await deadRecord(), 3600)],
      ['a fresh lock of a dead process', async () => leaveLock(stateDir, await deadRecord())],
      ['a lock from the future', async () => leaveLock(stateDir, await deadRecord(), -3600)],
      ['a lock without a record', () => leaveLock(stateDir, null)],
    ]
    for (const [name, leave] of leftovers) {
      for (let round = 0; round < ROUNDS; round += 1) {
        await leave()
        const reports = await Promise.all(
          racers.map((racer) => notify(racer, { do: 'take', memoryRoot, stateDir })),
        )
        const winners = racers.filter((_, index) => reports[index]?.ok)
        const refused = reports.filter((report) => report.code === 'already_active')
        if (winners.length !== 1 || refused.length !== RACERS - 1) t.same(reports, [], name)
        for (const winner of winners) await notify(winner, { do: 'release' })
      }
      t.pass(name)
    }
  })

  await t.test('the second start is told whose it is', async (t) => {
    const names = ['memory', 'state', 'other-state', 'other-memory']
    const [memory, state, otherState, otherMemory] = folders(t, ...names) as [
      string,
      string,
      string,
      string,
    ]
    const link = join(memory, '..', 'link')
    await symlink(memory, link)
    t.match(await notify(first, { do: 'take', memoryRoot: memory, stateDir: state }), { ok: true })
    const url = ' at http://127.0.0.1:4321'
    for (const [name, memoryRoot, stateDir, at] of [
      ['by the same paths', memory, state, url],
      ['by a symbolic link', link, state, url],
      ['with another state folder', memory, otherState, url],
      ['with another memory root in the same state folder', otherMemory, state, ''],
    ] as const) {
      const report = await notify(second, { do: 'take', memoryRoot, stateDir })
      t.match(report, { ok: false, code: 'already_active' }, name)
      t.match(report.message, `process ${first.pid}${at}`, name)
    }
    const asked = { memoryRoot: link, stateDir: otherState }
    t.match(await askOwner(asked), { owner: { pid: first.pid, url: 'http://127.0.0.1:4321' } })

    const workspace = join(memory, '..')
    const moved = `${workspace}-moved`
    await rename(workspace, moved)
    const [movedMemory, movedState] = [join(moved, 'memory'), join(moved, 'other-state')]
    const there = { do: 'take', memoryRoot: movedMemory, stateDir: movedState } as const
    const refused = { ok: false, code: 'already_active' }
    t.match(await notify(second, there), refused, 'where the workspace was moved to meanwhile')
    await rename(moved, workspace)

    first.kill('SIGSTOP')
    const stopped = await notify(second, { do: 'take', memoryRoot: memory, stateDir: state })
    t.match(stopped.message, new RegExp(`process ${first.pid}( at \\S+)? \\(not answering\\)`))
    const nameless = await notify(second, { do: 'take', memoryRoot: memory, stateDir: otherState })
    const onLinux = { skip: process.platform !== 'linux' && 'only Linux says who listens' }
    t.match(nameless.message, `process ${first.pid} (not answering)`, onLinux)
    t.match(
      nameless.message,
      `stopped by a signal, have it go on (kill -CONT ${first.pid})`,
      onLinux,
    )
    await notify(second, { do: 'take', memoryRoot: otherMemory, stateDir: otherState })
    const third = { do: 'take', memoryRoot: memory, stateDir: otherState } as const
    const notTheRecord = await notify(racers[2]!, third)
    t.match(notTheRecord.message, `process ${first.pid} (not answering)`, onLinux)
    await notify(second, { do: 'release' })
    first.kill('SIGCONT')

    await notify(first, { do: 'release' })
    await t.rejects(access(join(state, 'owner.lock')), { code: 'ENOENT' })
    await t.rejects(access(join(state, 'owner.json')), { code: 'ENOENT' })
    t.equal(await askOwner(asked), null)
  })

  await t.test('a memory root that is not there yet is held by its place', async (t) => {
    const [parent, state, otherState] = folders(t, 'parent', 'state', 'other-state') as [
      string,
      string,
      string,
    ]
    const memoryRoot = join(parent, 'deep', 'memory')
    const early = { do: 'take', memoryRoot, stateDir: state } as const
    const late = { do: 'take', memoryRoot, stateDir: otherState } as const
    t.match(await notify(first, early), { ok: true })
    t.match(await notify(second, late), { ok: false, code: 'already_active' }, 'before it is made')
    await mkdir(memoryRoot, { recursive: true })
    t.match(await notify(first, { do: 'made' }), { ok: true })
    t.match(await notify(second, late), { ok: false, code: 'already_active' }, 'once it is made')
    await rm(memoryRoot, { recursive: true })
    await mkdir(memoryRoot)
    t.match(await notify(second, late), { ok: false, code: 'already_active' }, 'when replaced')
    await notify(first, { do: 'release' })

    await rm(join(parent, 'deep'), { recursive: true })
    t.match(await notify(first, early), { ok: true })
    await mkdir(memoryRoot, { recursive: true })
    t.match(await notify(second, late), { ok: true }, 'a start between making and telling wins,')
    const refused = { ok: false, code: 'already_active' }
    t.match(await notify(first, { do: 'made' }), refused, 'and the first is told')
    await Promise.all([notify(first, { do: 'release' }), notify(second, { do: 'release' })])
  })

  await t.test('after kill -9 the next start succeeds at once', async (t) => {
    const [memoryRoot, stateDir] = folders(t, 'memory', 'state') as [string, string]
    const take = { do: 'take', memoryRoot, stateDir } as const
    for (const owner of racers.slice(2)) {
      const report = await notify(owner, take)
      t.match(report, { ok: true })
      await killHard(owner)
    }
    t.match(JSON.parse(await readFile(join(stateDir, 'owner.json'), 'utf8')), {
      pid: racers.at(-1)!.pid,
    })
    t.match(await notify(first, take), { ok: true })
    await notify(first, { do: 'release' })
  })

  await t.test('the handlers of the lock library leave SIGTERM to us', async (t) => {
    const [memoryRoot, stateDir] = folders(t, 'memory', 'state') as [string, string]
    await notify(first, { do: 'take', memoryRoot, stateDir })
    const exit = once(first, 'exit')
    first.kill('SIGTERM')
    t.same(await exit, [0, null])
    await t.rejects(access(join(stateDir, 'owner.lock')), { code: 'ENOENT' })
  })
})

t.test('in one process too, ownership is taken once and can be taken again', async (t) => {
  const [memoryRoot, stateDir] = folders(t, 'memory', 'state') as [string, string]
  const first = await takeOwnership({ memoryRoot, stateDir })
  await t.rejects(takeOwnership({ memoryRoot, stateDir }), { code: 'already_active' })
  await first.release()
  await first.release()
  const again = await takeOwnership({ memoryRoot, stateDir })
  await again.release()
})

t.test('the lock in the state folder', async (t) => {
  await t.test('of another machine is respected until it is stale', async (t) => {
    const [stateDir] = folders(t, 'state') as [string]
    const foreign = { ...(await deadRecord()), host: 'elsewhere', pid: 77 }
    await leaveLock(stateDir, foreign)
    const me = thisProcess()
    await t.rejects(holdLock(stateDir, me), { message: /process 77 on elsewhere/ })
    await leaveLock(stateDir, foreign, 16)
    await writeFile(join(stateDir, 'owner.lock', '.DS_Store'), '')
    await utimes(join(stateDir, 'owner.lock'), 1, 1)
    const lock = await holdLock(stateDir, me)
    await lock.release()
  })

  await t.test('of a living process on this machine is respected', async (t) => {
    const [stateDir] = folders(t, 'state') as [string]
    const { bootId, host } = thisProcess()
    await leaveLock(stateDir, { pid: process.ppid, started: null, bootId, host })
    await t.rejects(holdLock(stateDir, thisProcess()), { code: 'already_active' })
  })

  // The library looks at its lock every 5 s: the two run side by side.
  await t.test('is watched', { jobs: 2, buffered: true }, async (t) => {
    t.test('and taken again when something touched or removed it', async (t) => {
      const [stateDir] = folders(t, 'state') as [string]
      const me = thisProcess()
      const lock = await holdLock(stateDir, me)
      await rm(join(stateDir, 'owner.lock'), { recursive: true })
      await rm(join(stateDir, 'owner.json'))
      await appears(join(stateDir, 'owner.json'))
      t.equal(lock.lost.aborted, false)
      await access(join(stateDir, 'owner.lock'))
      await lock.release()
      await t.rejects(access(join(stateDir, 'owner.lock')), { code: 'ENOENT' })
    })

    t.test('and reported as lost when another machine has it', async (t) => {
      const [stateDir] = folders(t, 'state') as [string]
      const me = thisProcess()
      const lock = await holdLock(stateDir, me)
      await leaveLock(stateDir, { ...me, host: 'elsewhere' }, 1)
      await once(lock.lost, 'abort')
      t.type(lock.lost.reason, AppError)
      t.match(lock.lost.reason, { code: 'already_active', message: /elsewhere/ })
      await lock.release()
      await access(join(stateDir, 'owner.lock'))
    })
  })
})

async function appears(path: string): Promise<void> {
  const { watch } = await import('node:fs/promises')
  const stop = new AbortController()
  const events = watch(join(path, '..'), { signal: stop.signal })
  for await (const _ of events) {
    const there = await access(path).then(
      () => true,
      () => false,
    )
    if (there) return stop.abort()
  }
}

t.test('a process is gone', async (t) => {
  const me = thisProcess()
  const cases: [string, Partial<Owner>, boolean][] = [
    ['not when it is this one', {}, false],
    ['when its pid is free', { pid: 2 ** 22 + 1 }, true],
    ['when its pid is another process now', { started: '1' }, true],
    ['when the machine was started anew', { bootId: 'other' }, true],
    ['perhaps not when it ran on another machine', { host: 'elsewhere', started: '1' }, false],
  ]
  for (const [name, change, gone] of cases) {
    const skip = process.platform !== 'linux' && gone ? 'start times come from Linux /proc' : false
    await t.test(name, { skip }, async (t) => t.equal(isGone({ ...me, ...change }), gone))
  }
  const onLinux = { skip: process.platform !== 'linux' && 'zombies are told by Linux /proc' }
  await t.test('when it has ended, and its parent has not noticed', onLinux, async (t) => {
    // whoever runs after the exec knows nothing of this child
    const parent = spawn('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'])
    t.teardown(() => parent.kill('SIGKILL'))
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    const stat = () => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
    while (stat()[0] !== 'Z') await delay(5)
    t.equal(isGone({ ...me, pid, started: stat()[19]! }), true)
  })
})

const rootOnly = { skip: process.getuid?.() !== 0 && 'only root can be another user' }
t.test("another user's process is no owner, whatever it says", rootOnly, async (t) => {
  const [memoryRoot, stateDir] = folders(t, 'memory', 'state') as [string, string]
  const address = await ownerAddress(memoryRoot)
  const says = async (text: string) => {
    const code = `
      require('net').createServer((s) => s.end(${JSON.stringify(`${text}\n`)}))
        .listen(${JSON.stringify(address)}, () => process.send(1))
      process.on('disconnect', () => process.exit())`
    const child = fork('-e', [code], { execArgv: [], uid: NOBODY })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child, 'message')
    return child
  }
  const expected = (pid: number | undefined) => ({
    code: 'already_active',
    message: `Process ${pid} of another user (id ${NOBODY}) listens where the service of this workspace would.`,
  })
  const other = await says(JSON.stringify({ ...thisProcess(), url: 'http://127.0.0.1:4321' }))
  const error = await askOwner({ memoryRoot, stateDir }).catch((error: unknown) => error)
  t.match(error, expected(other.pid))
  const refused = await takeOwnership({ memoryRoot, stateDir }).catch((error: unknown) => error)
  t.match(refused, expected(other.pid))
  t.notOk(isTaken(refused), 'nobody waits for its end')
  await killHard(other)
  t.equal(await askOwner({ memoryRoot, stateDir }), null)
})

t.test('what is no record is not believed', async (t) => {
  for (const text of ['', '[', '7', 'null', '{}', '{"pid":0,"host":"h"}', '{"pid":"1"}']) {
    t.equal(parseAnswer(text), null, text)
  }
  const foreign = parseAnswer('{"pid":1,"host":"h","url":"http://evil.example/"}')
  t.equal(foreign?.url, undefined, 'an address that is not loopback')
})

t.test('an abstract name is full, so that all versions of Node mean the same by it', async (t) => {
  t.equal(Buffer.byteLength(socketAddress('1-2', 'linux')), 108)
})

t.test('a socket with a file in its place, for systems without abstract names', async (t) => {
  const address = join(tmpdir(), `casefile-test-${process.pid}.sock`)
  t.teardown(() => rm(address, { force: true }))
  t.match(socketAddress('1-2', 'darwin'), /casefile-1-2\.sock$/)

  await t.test('is held by one and answers', async (t) => {
    const held = await holdSocket(address, () => 'me')
    t.same(await holdSocket(address, () => 'you'), { answer: 'me' })
    t.equal(await askSocket(address), 'me')
    if ('release' in held) await held.release()
    t.equal(await askSocket(address), null)
  })

  await t.test('is taken over from the dead', async (t) => {
    const code = `require('net').createServer().listen(${JSON.stringify(address)}, () => process.send(1))`
    const dead = fork('-e', [code], { execArgv: [] })
    await once(dead, 'message')
    await killHard(dead)
    await access(address)
    const held = await holdSocket(address, () => 'heir')
    t.equal(await askSocket(address), 'heir')
    if ('release' in held) await held.release()
  })

  await t.test('counts as held when its holder says nothing', async (t) => {
    const silent = createServer(() => {}).listen(address)
    await once(silent, 'listening')
    t.equal(await askSocket(address), '')
    silent.close()
  })
})
