import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const PLANS = { first: 'echo first', second: 'echo second' }

t.test('a plan that is another one by the time it is to begin does not run', async (t) => {
  const app = await openTestService(t)
  // what was read is the first; what the file says once the run is on record is the second
  for (const [name, wanted] of Object.entries({ 'the first': 'first', 'the second': 'second' })) {
    await t.test(`${name} is approved`, async (t) => {
      const ref = await planned(app, { runbook: step(PLANS.first) })
      const { plan } = await must(app, 'GET', ref.path)
      const file = app.file(ref.case_id, 'sessions', '1.md')
      const text = readFileSync(file, 'utf8')
      const other = plan.replace(PLANS.first, PLANS.second)
      const plan_sha256 = sha256(wanted === 'first' ? plan : other)
      // the run is put on record, and the request has not read the session again yet
      const { database } = app.service
      const { later } = database
      database.later = (work) => {
        later(work)
        work((sql) => {
          if (!sql.includes('INTO runs')) return
          database.later = later
          writeFileSync(file, text.replace(PLANS.first, PLANS.second))
        })
      }
      const answer = app.request('POST', `${ref.path}/approve`, { plan_sha256 })
      t.match(await answer, { status: 409, json: { code: 'plan_changed' } })
      t.equal((await must(app, 'GET', ref.path)).state, 'plan_ready')
    })
  }
})
