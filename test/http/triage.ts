import { writeFileSync } from 'node:fs'
import t from 'tap'
import type { TriageRow } from '../../src/model/triage-row.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const { request } = app

const rows = async (query = ''): Promise<TriageRow[]> =>
  (await request('GET', `/triage${query}`)).json
const titles = async (query = '') => (await rows(query)).map(({ title }) => title)
const setState = (id: string, state: string, reason?: string) =>
  must(app, 'PUT', `/cases/${id}/state`, { state, ...(reason ? { reason } : {}) })

/** One case of each kind, the least urgent first. */
const ids: Record<string, string> = {}
await t.test('the cases of these tests', async () => {
  for (const title of ['nothing', 'closed', 'gate', 'unverified', 'asked', 'blocked', 'broken']) {
    ids[title] = (await app.newCase({ title, tags: [title === 'gate' ? 'auth' : 'other'] })).id
  }
  const proof = { type: 'log', content: 'seen' }
  for (const title of ['closed', 'gate', 'unverified']) {
    const { id } = await must(app, 'POST', `/cases/${ids[title]}/proof`, proof)
    if (title !== 'unverified') await must(app, 'PUT', `/cases/${ids[title]}/proof/${id}/verify`)
  }
  await setState(ids.closed!, 'RESOLVED')
  await setState(ids.asked!, 'NEEDS_USER_INPUT', 'Which database?')
  await setState(ids.blocked!, 'BLOCKED', 'No key.')
  writeFileSync(app.file(ids.broken!, 'notes.md'), Buffer.from([0xff, 0x0a]))
  const done = await planned(app, { fields: { title: 'complete' }, runbook: step('true') })
  await finished(app, done)
  const plan = await planned(app, { fields: { title: 'plan' }, runbook: step('true') })
  const failed = await planned(app, { fields: { title: 'failed' }, runbook: step('false') })
  await finished(app, failed)
  ids.complete = done.case_id
  ids.plan = plan.case_id
})

t.test('GET /triage has every case, what needs the operator first', async (t) => {
  const found = await rows()
  t.strictSame(
    found.map(({ title, needs }) => [title, needs?.kind ?? null, needs?.text]),
    [
      ['plan', 'plan', 'the plan of session 1 waits for approval'],
      ['asked', 'question', 'Which database?'],
      ['failed', 'failed', 'session 1 failed: step step-1 exited with 1, expected 0'],
      ['broken', 'problem', 'notes.md: the file is not UTF-8: save it as UTF-8'],
      ['complete', 'proof', 'session 1 is complete and has no proof'],
      ['unverified', 'proof', '1 proof is not verified yet'],
      ['gate', 'gate_open', 'the proof gate is open, so the case can be resolved'],
      ['blocked', 'blocked', 'No key.'],
      ['nothing', null, undefined],
      ['closed', null, undefined],
    ],
  )
  const [first] = found
  t.strictSame(Object.keys(first!), [
    'id',
    'title',
    'type',
    'state',
    'outcome',
    'tags',
    'updated_at',
    'created_at',
    'needs',
    'since',
    'sessions',
    'running',
    'problems',
    'gate',
  ])
  t.match(first, {
    id: ids.plan,
    state: 'PLANNING',
    needs: { session_id: String, session: 1 },
    sessions: 1,
    running: false,
    problems: 0,
    gate: { open: false, verified: 0, missing: 1 },
  })
  t.match(
    found.find(({ title }) => title === 'broken'),
    { problems: 1, needs: { session_id: null, session: null } },
  )
})

t.test('what has waited least is first of its kind', async (t) => {
  await must(app, 'POST', `/cases/${ids.unverified}/proof`, { type: 'log', content: 'more' })
  t.strictSame(await titles('?needs=proof'), ['unverified', 'complete'])
})

t.test('filters are those of GET /cases, and needs', async (t) => {
  const table: [query: string, found: string[]][] = [
    ['?needs=any', ['plan', 'asked', 'failed', 'broken', 'unverified', 'complete', 'gate']],
    ['?needs=blocked,plan', ['plan', 'blocked']],
    ['?needs=question&needs=plan', ['plan', 'asked']],
    ['?needs=gate_open&tag=other', []],
    ['?tag=auth', ['gate']],
    ['?open=true&needs=gate_open', ['gate']],
    ['?open=true&q=nothing', ['nothing']],
    ['?open=true&q=closed', []],
    ['?state=RESOLVED', ['closed']],
    ['?q=BROK', ['broken']],
    ['?needs=running', []],
    ['?named=unver', ['unverified']],
    [`?named=${ids.plan!.slice(0, 9)}`, ['plan']],
    ['?named=plan&q=nothing', []],
  ]
  for (const [query, found] of table) t.strictSame(await titles(query), found, query)
  t.match(await request('GET', '/triage?needs=any,nonsense'), {
    status: 400,
    json: { code: 'bad_request', errors: [{ path: 'needs', message: /plan, question.*nonsense/ }] },
  })
  t.equal((await request('GET', '/triage?state=NOPE')).json.code, 'unknown_state')
})

t.test('pages follow the same order', async (t) => {
  const whole = await titles()
  const seen: string[] = []
  let path: string | undefined = '/triage?limit=3'
  while (path !== undefined) {
    const reply = await request('GET', path)
    t.equal(reply.headers['x-total-count'], '10')
    seen.push(...reply.json.map(({ title }: TriageRow) => title))
    path = /^<([^>]+)>; rel="next"$/.exec(reply.headers.link ?? '')?.[1]
  }
  t.strictSame(seen, whole)
})

t.test('an unchanged list is not sent again', async (t) => {
  const { etag } = (await request('GET', '/triage')).headers
  t.equal((await request('GET', '/triage', undefined, { 'if-none-match': etag! })).status, 304)
  await must(app, 'PUT', `/cases/${ids.nothing}`, { title: 'still "nothing"' })
  t.equal((await request('GET', '/triage', undefined, { 'if-none-match': etag! })).status, 200)
  t.strictSame(await titles('?named=still%20%22Noth'), ['still "nothing"'])
})

t.test('a session that runs is told, and is nobody’s turn', async (t) => {
  const ref = await planned(app, { fields: { title: 'at work' }, runbook: step('sleep 30') })
  await must(app, 'POST', `${ref.path}/approve`)
  const [row] = await rows('?needs=running')
  t.match(row, { title: 'at work', running: true, needs: { kind: 'running', session: 1 } })
  t.notOk((await titles('?needs=any')).includes('at work'))
  await must(app, 'POST', `${ref.path}/abandon`)
  t.strictSame(await rows('?needs=running'), [])
})
