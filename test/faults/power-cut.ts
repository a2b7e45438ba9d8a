import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { started } from '../fixtures/built-service.ts'
import { createAsking, RUNBOOK } from '../fixtures/faults/asking.ts'
import { differencesFrom, differencesInEvents, leftAfterStart } from '../fixtures/faults/checker.ts'
import { diskImage } from '../fixtures/faults/disk-image.ts'
import { newLedger } from '../fixtures/faults/ledger.ts'
import { isFull } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import { clientOf } from '../fixtures/session-client.ts'

/*
 * The power is cut: what the disk holds at that moment is mounted anew, and a service started on it. In full 50
 * times (CASEFILE_TEST_FULL=1), by a seed that is printed and that CASEFILE_TEST_SEED repeats.
 */

const CUTS = isFull ? 50 : 2
const seed = Number(process.env.CASEFILE_TEST_SEED)
const chance = randomFrom(seed)
const LIMIT = { timeout: 1_800_000 }
t.setTimeout(LIMIT.timeout)
t.comment(`CASEFILE_TEST_SEED=${seed}`)

const serve = (folder: string) => {
  const places = ['--root', join(folder, 'root'), '--state-dir', join(folder, 'state')]
  return started(['serve', ...places, '--port', '0', '--no-mount'], {})
}

t.test('a power cut takes nothing that was acknowledged', LIMIT, async (t) => {
  t.teardown(() => {})
  for (let n = 0; n < CUTS; n++) {
    const name = `cut ${n}`
    await t.test(name, LIMIT, async (t) => {
      t.teardown(() => {})
      await cutOnce(t, n)
    })
  }
})

async function cutOnce(t: Test, n: number): Promise<void> {
  const disk = diskImage(t, t.testdir({}))
  if (!disk) return
  for (const name of ['root', 'state']) mkdirSync(join(disk.folder, name))
  const service = await serve(disk.folder)
  const ledger = newLedger()
  let isCut = false
  const client = clientOf(() => service.url)
  const asking = createAsking(client, ledger, () => isCut)
  const load = async (): Promise<void> => {
    const first = await asking.create()
    const gone = await asking.create()
    if (!first || !gone) return
    await asking.hook('http://127.0.0.1:9999/')
    await asking.note(first, 'runbook.md', RUNBOOK)
    const proof = await asking.prove(first)
    if (proof) await asking.verify(first, proof)
    const session = await asking.plan(first)
    await asking.change(first)
    await asking.remove(gone)
    if (session) await asking.approve(first, session)
    await asking.plan(first)
    for (let more = 0; more < 5 && !isCut; more++) {
      const id = await asking.create()
      if (!id) return
      await Promise.all([asking.change(id), asking.note(id)])
      await asking.move(id, 'BLOCKED')
    }
  }
  const loaded = load()
  // the first right after the last answer, the others in the middle of it
  if (n === 0) await loaded
  else await Promise.race([loaded, delay(20 + 1500 * chance())])
  isCut = true
  process.kill(service.pid, 'SIGSTOP') // the image is copied as it is at one moment
  const after = disk.cut()
  await service.stop('SIGKILL')
  await loaded
  disk.close()
  const again = await serve(after.folder)
  const checked = {
    root: join(after.folder, 'root'),
    stateDir: join(after.folder, 'state'),

    url: again.url,
    request: clientOf(() => again.url).request,
  }
  const found = [
    ...(await differencesFrom(ledger, checked)),
    ...(await leftAfterStart(checked)),
    ...(await differencesInEvents(ledger, checked, { history: 'all, also by hand' })),
  ]
  for (const each of found) t.fail(each)
  t.pass(`${ledger.cases.size} cases`)
  await again.stop('SIGTERM')
  after.close()
}
