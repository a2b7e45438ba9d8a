import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startBuilt } from '../fixtures/built-service.ts'
import { whyNoInjection } from '../fixtures/faults/injection.ts'
import { must } from '../fixtures/session-client.ts'
import { rowsOnDisk } from '../fixtures/state-rows.ts'

/** What a process syncs, until `end` returns it. */
async function tracedSyncs(pid: number) {
  const strace = spawn('strace', ['-f', '-y', '-e', 'trace=fsync,fdatasync', '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(strace, 'close')
  let text = ''
  strace.stderr.setEncoding('utf8').on('data', (more) => {
    text += more
  })
  while (!text.includes('attached')) await once(strace.stderr, 'data')
  return async (): Promise<string[]> => {
    strace.kill('SIGINT')
    await ended
    return [...text.matchAll(/f(?:data)?sync\(\d+<([^>]+)>/g)].map(([, path]) => path!)
  }
}

t.test('what a change and an edit by hand sync', { skip: whyNoInjection() }, async (t) => {
  const dir = t.testdir({ root: {}, state: {} })
  const stateDir = join(dir, 'state')
  const service = await startBuilt(t, { root: join(dir, 'root'), stateDir, args: ['--no-mount'] })
  const { id } = await must(service, 'POST', '/cases', { title: 'A' })
  const folder = join(dir, 'root', 'memory', 'cases', id)
  const file = join(folder, 'case.md')

  /** Until nothing that was changed is still to be written. */
  async function untilStored(): Promise<void> {
    for (;;) {
      const [search] = rowsOnDisk<{ value: string }>(
        stateDir,
        "SELECT value FROM meta WHERE name = 'search'",
      )
      const pending = rowsOnDisk(stateDir, 'SELECT id, kind, text FROM history_pending')
      if (pending.length === 0 && search?.value.includes('complete')) return
      await delay(100)
    }
  }

  async function syncsOf(change: () => Promise<unknown>): Promise<string[]> {
    await untilStored()
    const end = await tracedSyncs(service.pid)
    await change()
    await untilStored()
    const paths = (await end()).filter((path) => path.startsWith(folder) || /\.db/.test(path))
    return paths.map((path) => (path.endsWith('.tmp') ? 'case.md' : basename(path))).sort()
  }

  const change = () => must(service, 'PUT', `/cases/${id}`, { title: 'B' })
  t.strictSame(await syncsOf(change), [id, 'case.md', 'casefile.db-wal', 'history.md'].sort())
  const edit = async () => {
    writeFileSync(file, readFileSync(file, 'utf8').replace('title: B', 'title: C'))
    const isTold = () => readFileSync(join(folder, 'history.md'), 'utf8').includes('by hand')
    while (!isTold()) await delay(100)
  }
  t.strictSame(
    await syncsOf(edit),
    ['casefile.db-wal', 'casefile.db-wal', 'history.md'],
    'its event, its line, and the file with it',
  )
  await service.stop('SIGKILL')
  await service.restart()
  const found = await must(service, 'GET', '/search?q=C')
  t.equal(JSON.stringify(found).includes(id), true, 'what was not synced survives a kill')
})
