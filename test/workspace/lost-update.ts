import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const PERSON = fileURLToPath(new URL('../fixtures/saving-person.mjs', import.meta.url))

// reliability.md OC-3 in full, 1,000 saves at 50 a second against 100 writes, takes two minutes
const isFull = process.env.CASEFILE_TEST_FULL === '1'
const SAVES = isFull ? 1000 : 200
const SAVES_PER_S = isFull ? 50 : 150
const WRITES_PER_S = isFull ? 100 : 300

t.test('no line that a person saves is lost beside the writes of the service', async (t) => {
  for (const style of ['rename', 'in-place']) {
    for (const seed of [1, 2, 3]) {
      await t.test(`${style}, seed ${seed}`, async (t) => {
        const app = await openTestService(t)
        const { id } = await app.newCase({ description: 'First.' })
        const args = [PERSON, app.file(id, 'case.md'), style, SAVES, SAVES_PER_S, seed].map(String)
        const person = spawn(process.execPath, args, { stdio: 'inherit' })
        const ended = once(person, 'exit')
        const began = performance.now()
        const statuses = new Map<number, number>()
        for (let n = 1; person.exitCode === null && person.signalCode === null; n++) {
          const body = n % 2 ? { title: `Title ${n}` } : { tags: [`tag-${n}`] }
          const { status } = await app.request('PUT', `/cases/${id}`, body)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          const ahead = began + (n * 1000) / WRITES_PER_S - performance.now()
          if (ahead > 0) await delay(ahead)
        }
        t.strictSame(await ended, [0, null])
        const seconds = (performance.now() - began) / 1000
        await app.service.secondLook.idle()
        const kept = textsOf(app, id)
        const lost = Array.from({ length: SAVES }, (_, n) => `line ${seed}-${n + 1}.`).filter(
          (line) => !kept.some((text) => text.includes(`${line}\n`)),
        )
        t.strictSame(lost, [])
        t.strictSame([...statuses.keys()], [200], 'every write takes')
        const writes = [...statuses.values()].reduce((sum, count) => sum + count, 0)
        t.comment(
          `${Math.round(SAVES / seconds)} saves and ${Math.round(writes / seconds)} writes a second, ${kept.length - 1} conflict copies, ${app.log.length} rescues`, JSON.stringify([...statuses])
        )
      })
    }
  }
})

function textsOf(app: TestService, id: string): string[] {
  const names = readdirSync(app.file(id)).filter((name) => name.startsWith('case.'))
  return names.map((name) => readFileSync(app.file(id, name), 'utf8'))
}
