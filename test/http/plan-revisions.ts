import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { planRevisions } from '../../src/model/plan-revisions.ts'
import { MAX_PLAN_BYTES } from '../../src/model/session.ts'
import type { TrailLine } from '../../src/model/trail.ts'
import { atOnce } from '../fixtures/at-once.ts'
import { envelope, must, planned, reaches, stream } from '../fixtures/session-client.ts'
import { changeState, rowsOnDisk } from '../fixtures/state-rows.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)

const plansOf = async (path: string) =>
  (await must(app, 'GET', `${path}/approval?plans=true`)).plans

/** Changes the plan in the file as a person would. */
function editByHand(caseId: string, from: string, to: string): void {
  const file = app.file(caseId, 'sessions', '1.md')
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`no ${from} in it`)
  writeFileSync(file, text.replace(from, to))
}

t.test('of ten edits of a plan with the same If-Match one wins', async (t) => {
  const ref = await planned(app, { runbook: 'First.\n' })
  const { case_id, path } = ref
  const { etag = '' } = (await app.request('GET', path)).headers
  const replies = await atOnce(app, case_id, 10, (n) =>
    app.request('PUT', `${path}/plan`, { plan: `Edit ${n}.` }, { 'if-match': etag }),
  )
  const [won, ...others] = replies.filter(({ status }) => status === 200)
  t.strictSame(others, [])
  t.equal(replies.filter(({ status }) => status === 412).length, 9)
  t.equal((await must(app, 'GET', path)).plan, won!.json.plan)
  const { at } = (await plansOf(path)).at(-1)
  t.match(won!.json, { updated_at: at, plan_sha256: sha256(won!.json.plan) })
  t.not(won!.json.updated_at, won!.json.created_at)

  const long = 'x'.repeat(MAX_PLAN_BYTES + 1)
  for (const body of [{ plan: long }, { plan: 'Short.', hypothesis: long }])
    t.match(await app.request('PUT', `${path}/plan`, body), { status: 413 })
  const capitals = { plan_sha256: won!.json.plan_sha256.toUpperCase() }
  t.equal((await app.request('POST', `${path}/approve`, capitals)).status, 200)
  await reaches(app, ref, 'complete') // until then the folder is busy for others
})

t.test('every plan that a session had, with its text, oldest first', async (t) => {
  const ref = await planned(app, { runbook: 'First.\n' })
  const one = (await must(app, 'GET', ref.path)).plan
  await must(app, 'PUT', `${ref.path}/plan`, { plan: 'Second.' })
  await must(app, 'PUT', `/cases/${ref.case_id}/memory/runbook.md`, 'Third.\n')
  const events = await stream(app, ref)
  await must(app, 'POST', `${ref.path}/revise`, { note: 'Read it again.' })
  await events.next(
    (event) => event.event === 'plan_written' && envelope(event).payload.sha256 !== sha256(one),
  )
  await reaches(app, ref, 'plan_ready')
  await events.next((event) => envelope(event).payload.new_state === 'plan_ready')
  const three = (await must(app, 'GET', ref.path)).plan
  editByHand(ref.case_id, 'Third.', 'Fourth.')
  const early = await plansOf(ref.path)
  t.match(early.at(-1), { by: 'hand', current: true, text: /Fourth/ }, 'before the trail has it')
  await events.next(({ event, data }) => event === 'plan_edited' && data.includes('"hand"'))
  const four = (await must(app, 'GET', ref.path)).plan
  const found = await plansOf(ref.path)
  const row = (text: string, by: string, note: string | null = null, current = false) => ({
    plan_sha256: sha256(text),
    at: /Z$/,
    by,
    current,
    note,
    text,
  })
  t.match(found, [
    row(one, 'provider'),
    row('Second.', 'request'),
    row(three, 'provider', 'Read it again.'),
    row(four, 'hand', null, true),
  ])
  t.equal(found.length, 4)
  t.strictSame(Object.keys(found[0]), ['plan_sha256', 'at', 'by', 'current', 'note', 'text'])

  const ids = [one, 'Second.', three, four].map(sha256)
  const stored = rowsOnDisk<{ sha256: string }>(app.stateDir, 'SELECT sha256 FROM plans')
  t.ok(
    ids.every((id) => stored.some((row) => row.sha256 === id)),
    'in the state folder',
  )

  await must(app, 'POST', `${ref.path}/approve`)
  await reaches(app, ref, 'complete')
  await app.close()
  await changeState(app.stateDir, 'DELETE FROM plans')
  await app.restart()
  const left = (await plansOf(ref.path)).map(({ text }: { text: string }) => text)
  t.strictSame(left, [null, null, null, four], 'the approved one is in the session too')
})

t.test(
  'a plan that came from elsewhere, or was edited while no service ran, is stored',
  async (t) => {
    const ref = await planned(app, { runbook: 'From a clone.\n' })
    app.service.database.write((run) => run('DELETE FROM plans'))
    await must(app, 'PUT', `${ref.path}/plan`, { plan: 'Mine.' })
    t.match(await plansOf(ref.path), [{ text: /From a clone/ }, { text: 'Mine.' }])

    await app.close()
    editByHand(ref.case_id, 'Mine.', 'By hand.')
    await app.restart()
    const events = await stream(app, ref)
    await events.next(({ event, data }) => event === 'plan_edited' && data.includes('"hand"'))
    t.match((await plansOf(ref.path)).at(-1), { by: 'hand', current: true, text: 'By hand.' })
    editByHand(ref.case_id, 'By hand.', '```sh run proof=tests\ntrue\n```')
    const approval = await must(app, 'GET', `${ref.path}/approval`)
    t.match(approval, { plan_errors: [{ line: 1, message: /proof/ }], objection: null })
    t.notOk('plans' in approval)
    const nobody = '00000000-0000-4000-8000-000000000000'
    t.match(await app.request('GET', `/cases/${ref.case_id}/sessions/${nobody}/approval`), {
      status: 404,
    })
  },
)

t.test('what a trail tells of plans', async (t) => {
  const at = '2026-11-20T09:54:00.000Z'
  const trail = (lines: [event: string, fields: object][]) =>
    planRevisions(
      lines.map(([event, fields], n) => {
        const line = {
          number: n + 1,
          time: at,
          event,
          fields: { ...fields },
        }
        return line as TrailLine
      }),
    ).map(({ plan_sha256, by, note, text }) => [plan_sha256, by, note, text])
  const back = (reason?: string) => ({ old_state: 'plan_ready', new_state: 'planning', reason })

  t.strictSame(
    trail([
      ['plan_written', { sha256: 'a' }],
      ['plan_edited', { by: 'hand', sha256: 'a', hypothesis_sha256: 'x' }],
      ['session_state_changed', back('other')],
      ['plan_written', { sha256: 'b' }],
      ['session_state_changed', back()],
      ['plan_written', { sha256: 'a' }],
      ['plan_approved', { plan_sha256: 'a', plan: 'A' }],
    ]),
    [
      ['a', 'provider', null, null],
      ['b', 'provider', 'other', null],
      ['a', 'provider', null, 'A'],
    ],
    'one that stays is told once, one that comes back twice',
  )
  t.strictSame(
    trail([
      ['plan_written', { sha256: 'a' }],
      ['plan_approved', { plan_sha256: 'b', plan: 'B' }],
      ['plan_edited', { by: 'nobody', sha256: 7 }],
      ['plan_written', {}],
    ]),
    [
      ['a', 'provider', null, null],
      ['b', 'hand', null, 'B'],
    ],
    'one that was approved is told though no line names it; what is no hash is nothing',
  )
})
