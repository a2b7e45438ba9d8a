import t from 'tap'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test('GET /stats counts what waits and what ran, also after a restart', async (t) => {
  const app = await openTestService(t)
  const page = async () => (await app.request('GET', '/', undefined, { accept: 'text/html' })).text
  t.match(await must(app, 'GET', '/stats'), { waiting: [], agents: [], runs: 0, passed: 0 })
  await app.newCase({ title: 'nothing' })
  t.notMatch(await page(), /id="stats"/, 'nothing to show')

  await finished(app, await planned(app, { runbook: step('true') }))
  await finished(app, await planned(app, { runbook: step('false') }))
  const waiting = await planned(app, { runbook: step('true') })
  const seen = await must(app, 'GET', '/stats')
  t.match(seen, {
    runs: 2,
    passed: 1,
    agents: [{ provider: 'runbook', runs: 2, passed: 1 }],
    medians: { planned_ms: Number, waited_ms: Number, ran_ms: Number },
  })
  t.equal(seen.agents[0].by_week.length, 8)
  t.strictSame(seen.agents[0].by_week.at(-1), { runs: 2, passed: 1 })
  t.match(
    seen.waiting.map(({ kind, count }: { kind: string; count: number }) => [kind, count]),
    [
      ['plan', 1],
      ['failed', 1],
      ['proof', 1],
    ],
  )
  t.equal(seen.waiting[0].oldest_case_id, waiting.case_id)
  const html = await page()
  t.match(html, /<details class="stats" id="stats">/)
  t.match(
    html.replace(/<[^>]*>/g, ''),
    /3 cases need you, the oldest.*2 runs in 8 weeks, 50% passed/s,
  )

  await app.restart()
  t.strictSame(await must(app, 'GET', '/stats'), seen)
})
