import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { type HeldSync, holdSyncs } from '../fixtures/synced-disk.ts'

// not before the functions of the disk are watched
const { must, planned, step } = await import('../fixtures/session-client.ts')
const { openTestService } = await import('../fixtures/workspace.ts')
const { sha256 } = await import('../../src/markdown/session-file.ts')

const PLANS = { first: 'echo first', second: 'echo second' }

t.test('a plan that is another one by the time it is to begin does not run', async (t) => {
  // what was read is the first; what the file says once the run is on record is the second
  for (const [name, wanted] of Object.entries({ 'the first': 'first', 'the second': 'second' })) {
    await t.test(`${name} is approved`, async (t) => {
      const app = await openTestService(t)
      const ref = await planned(app, { runbook: step(PLANS.first) })
      const { plan } = await must(app, 'GET', ref.path)
      const file = app.file(ref.case_id, 'sessions', '1.md')
      const text = readFileSync(file, 'utf8')
      const other = plan.replace(PLANS.first, PLANS.second)
      const plan_sha256 = sha256(wanted === 'first' ? plan : other)
      const begun = new Promise<HeldSync>((resolve) => {
        t.teardown(holdSyncs((path) => path.includes('/runs/'), resolve))
      })
      const answer = app.request('POST', `${ref.path}/approve`, { plan_sha256 })
      const sync = await begun
      writeFileSync(file, text.replace(PLANS.first, PLANS.second))
      sync.letGo()
      t.match(await answer, { status: 409, json: { code: 'plan_changed' } })
      t.equal((await must(app, 'GET', ref.path)).state, 'plan_ready')
    })
  }
})
