import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { codeOf } from '../../src/files/errno.ts'
import { storageError } from '../../src/files/storage-error.ts'
import { problemJson } from '../../src/http/problem-json.ts'
import { openDatabase } from '../../src/state/database.ts'
import { startBuilt } from '../fixtures/built-service.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { must, planned, step, stream } from '../fixtures/session-client.ts'

/*
 * Errors of the system besides EIO and ENOSPC: quotas, limits of the process, and what a disk of a network says.
 */

type Errno = keyof typeof constants.errno

/** As the calls of node say it: by the name that libuv has for it, else by one of two that are none. */
function systemError(name: Errno, code: string = name): Error {
  return Object.assign(new Error(`${code}: injected`), { code, errno: -constants.errno[name] })
}

t.test('whatever the system says of a write is a refusal that says it', (t) => {
  const failed: [code: string, remedy: RegExp, names: Errno[]][] = [
    ['storage_full', /Free space/, ['ENOSPC', 'EDQUOT', 'EFBIG']],
    ['storage_failed', /Wait a little/, ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']],
    ['storage_failed', /the disk/, ['EIO', 'EROFS', 'ESTALE', 'EBUSY', 'EMLINK', 'ENOTCONN']],
  ]
  for (const [code, remedy, names] of failed) {
    for (const name of names) {
      const detail = new RegExp(`\\(${name}\\).*${remedy.source}`)
      t.match(storageError(systemError(name), '/x/case.md'), { code, message: detail }, name)
      t.match(problemJson(systemError(name)), { code, detail }, `${name} of a request`)
    }
  }
  t.match(problemJson(systemError('ENOENT')), { code: 'internal' }, 'but no mistake of ours')
  t.end()
})

t.test('what libuv has no name for has its own, as calls of both kinds say it', (t) => {
  for (const code of ['UNKNOWN', `Unknown system error -${constants.errno.EDQUOT}`]) {
    t.equal(codeOf(systemError('EDQUOT', code)), 'EDQUOT')
  }
  t.equal(codeOf(Object.assign(new Error('x'), { code: 'UNKNOWN' })), 'UNKNOWN')
  t.end()
})

t.test('a database that cannot be opened just now is left as it is', async (t) => {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const folder = t.testdir()
  const log = () => {}
  const first = await openDatabase(folder, log)
  first.write((run) => run("INSERT INTO meta VALUES ('a', 'b')"))
  await first.close()
  renameSync(join(folder, 'casefile.db'), join(folder, 'elsewhere'))
  mkdirSync(join(folder, 'casefile.db')) // what SQLite cannot open
  await t.rejects(openDatabase(folder, log), { code: 'storage_failed', message: /unable to open/ })
  t.strictSame(readdirSync(folder).sort(), ['casefile.db', 'elsewhere'])
  rmdirSync(join(folder, 'casefile.db'))
  renameSync(join(folder, 'elsewhere'), join(folder, 'casefile.db'))
  const again = await openDatabase(folder, log)
  t.same(again.get('SELECT value FROM meta'), { value: 'b' })
  await again.close()
})

const SIZE = 8 * 1024 * 1024

/** Few enough that a step cannot be started, in one place or another. What is open when it is counted may be closed soon. */
const SPARE = [5, 9, 4, 6, 7, 8, 10, 11, 12, 3, 2]
const SHORT_MS = 2000

/** How many files a service has open once that has not changed for a second: those that it replaced are held for half of one. */
async function filesAtRest(pid: number): Promise<number> {
  const count = () => readdirSync(`/proc/${pid}/fd`).length
  let before = count()
  for (let looks = 0; looks < 10; looks++) {
    await delay(100)
    const now = count()
    if (now !== before) looks = 0
    before = now
  }
  return before
}

t.test('a limit of the process is an answer, and no end of the service', inLongLane, async (t) => {
  if (process.platform !== 'linux') return t.pass('prlimit is of Linux', { skip: true })
  t.teardown(() => {})
  const dir = t.testdir({ root: {}, state: {} })
  const service = await startBuilt(t, {
    root: join(dir, 'root'),
    stateDir: join(dir, 'state'),
    through: ['sh', '-c', 'exec "$@" 2> /dev/full', 'sh'], // nor is a log on a full disk
  })
  const { pid } = service
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${SIZE}:`])
  const { id } = await must(service, 'POST', '/cases', { title: 'A case' })
  const path = `/cases/${id}/memory/notes.md`
  await must(service, 'PUT', path, 'mine')
  const refused = await service.request('PUT', path, 'x'.repeat(SIZE + 1))
  t.match(refused, { status: 507, json: { code: 'storage_full', detail: /EFBIG.*Free space/ } })
  t.equal((await service.request('GET', path)).text, 'mine')

  const limit = (most: string | number) =>
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${most}:`])
  const [, usual = ''] = /open files +(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))!
  const reasons: string[] = []
  for (const spare of SPARE) {
    if (!isLong && spare !== SPARE[0] && reasons.join().includes('EMFILE')) break
    const ref = await planned(service, { runbook: step('true') })
    const events = await stream(service, ref)
    limit((await filesAtRest(pid)) + spare)
    const approved = await service.request('POST', `${ref.path}/approve`).catch(() => null)
    // a start may also be tried until there are some
    if (approved?.status === 200) await Promise.race([events.closed, delay(SHORT_MS)])
    limit(usual)
    if (approved?.status === 200) await events.closed
    events.close()
    const { state } = await must(service, 'GET', ref.path)
    t.match(state, approved?.status === 200 ? /^(complete|failed)$/ : /./, `${spare} are left`)
    reasons.push(readFileSync(join(dir, 'root/memory/cases', ref.case_id, 'sessions/1.md'), 'utf8'))
  }
  t.match(reasons.join(), 'EMFILE', 'for which some could not be started')
  t.notMatch(reasons.join(), 'TypeError')
  t.match(await must(service, 'GET', '/health'), { status: 'ok' })
})
