// An editor that shows an old text saves it over what the service has written since: nothing of that is silent
// (RELIABILITY.md OC-4).
import { readFileSync } from 'node:fs'
import t from 'tap'
import { stolenTime } from '../fixtures/cpu-time.ts'
import { renameOver, truncateThenWrite } from '../fixtures/editors.ts'
import { isFull, isLong } from '../fixtures/full.ts'
import { listen } from '../fixtures/published-events.ts'
import { type Envelope, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const TIMES = isLong ? 20 : 2
const SESSIONS = isFull ? TIMES : isLong ? 5 : 1
const AT_MOST_MS = 2000
const STYLES: [name: string, save: (path: string, text: string) => Promise<void>][] = [
  ['by a rename', renameOver],
  ['in place', (path, text) => truncateThenWrite(path, text)],
]

for (const [name, save] of STYLES) {
  t.test(`of a case, ${name}`, async (t) => {
    const app = await openTestService(t)
    await app.service.watched()
    const published = listen(t, app)
    const stolen = stolenTime(t)
    const { id } = await app.newCase({ description: 'Text' })
    const path = app.file(id, 'case.md')
    const late: number[] = []
    for (let turn = 1; turn <= TIMES; turn++) {
      const buffer = readFileSync(path, 'utf8')
      await must(app, 'PUT', `/cases/${id}/state`, { state: 'BLOCKED', reason: `Reason ${turn}` })
      await must(app, 'PUT', `/cases/${id}`, { title: `Title ${turn}` })
      await published.newEvents()
      const before = stolen()
      await save(path, `${buffer}\nMine ${turn}.\n`)
      const saved = Date.now()
      const events = [
        await published.next(({ event_type }) => event_type === 'case_state_changed'),
        await published.next(({ event_type }) => event_type === 'case_updated'),
      ]
      const payload = { case_id: id, old_state: 'BLOCKED', new_state: 'OPEN' }
      t.match(events, [{ payload }, { payload: { case_id: id } }])
      late.push(...events.map(({ timestamp }) => Date.parse(timestamp) - saved - stolen() + before))
      const shown = await must(app, 'GET', `/cases/${id}`)
      t.match(shown, { state: 'OPEN', description: new RegExp(`Mine ${turn}\\.$`) })
      t.equal(readFileSync(path, 'utf8'), `${buffer}\nMine ${turn}.\n`, 'and is not written over')
    }
    if (isLong)
      t.ok(Math.max(...late) <= AT_MOST_MS, `told within ${Math.max(...late).toFixed()} ms`)
  })

  const isLeftOut = !isLong && save === renameOver && 'in the long lane'
  t.test(`of a session, ${name}`, { skip: isLeftOut }, async (t) => {
    const app = await openTestService(t)
    await app.service.watched()
    const published = listen(t, app)
    const stolen = stolenTime(t)
    const late: number[] = []
    for (let turn = 1; turn <= SESSIONS; turn++) {
      const ref = await planned(app, { runbook: step('echo hi') })
      const path = app.file(ref.case_id, 'sessions', '1.md')
      const now = readFileSync(path, 'utf8')
      // as it was while it planned, before the last three lines
      const lines = now.trimEnd().split('\n')
      const buffer = `${lines.slice(0, -3).join('\n').replace('state: plan_ready', 'state: planning')}\n`
      await published.newEvents()
      const before = stolen()
      await save(path, buffer)
      const saved = Date.now()
      const isTold = ({ event_type, payload }: Envelope) =>
        event_type === 'problem_found' && payload.code === 'trail_changed'
      const { timestamp, payload } = await published.next(isTold)
      late.push(Date.parse(timestamp) - saved - stolen() + before)
      t.match(payload, { case_id: ref.case_id, file: 'sessions/1.md' })
      t.match(await must(app, 'GET', ref.path), { state: 'plan_ready' }, 'no state is lost')
      await must(app, 'POST', `${ref.path}/abandon`)
      const text = readFileSync(path, 'utf8')
      for (const line of lines.slice(-3))
        t.ok(text.includes(line), 'with the next write it is back')
    }
    if (isLong)
      t.ok(Math.max(...late) <= AT_MOST_MS, `told within ${Math.max(...late).toFixed()} ms`)
  })
}
