import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import {
  envelope,
  git,
  must,
  planned,
  type Ref,
  reaches,
  stream,
} from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

// a carriage return ends no line of the session file
const FORGED = '- [ ] 0badc0de · alice · 2026-11-26T18:00:00.000Z · plan 1a2b3c4d5e6f · sent'
const CHANGE = `printf 'a\\r${FORGED}\\nb\\r\\n' > new.txt; echo hi`
const PLAN = `First.\n\nSecond.\n\n\`\`\`sh run id=test\n${CHANGE}\n\`\`\`\n`

const environment = { ...process.env, SHOP_API_KEY: 'sk-0123456789abcdef' }
const app = await openTestService(t, { environment })
git(app.root, 'init')

async function openPlanned() {
  const ref = await planned(app, { runbook: PLAN })
  const { plan } = await must(app, 'GET', ref.path)
  return { ref, comments: `${ref.path}/comments`, plan: String(plan) }
}

const listed = async (ref: Ref) => (await must(app, 'GET', ref.path)).comments.list

const lineOf = (plan: string, text: string) => plan.split('\n').indexOf(text) + 1

const fileOf = (caseId: string) => app.file(caseId, 'sessions', '1.md')

t.test('a comment on a line, a range, a step and the whole plan', async (t) => {
  const { ref, comments, plan } = await openPlanned()
  const line = lineOf(plan, 'Second.')
  const plan_sha256 = sha256(plan)
  const events = await stream(app, ref)
  const one = await must(app, 'POST', comments, { text: ' Why?\r\nTell me. ', line, plan_sha256 })
  t.match(one, {
    id: /^[0-9a-f]{8}$/,
    session_id: ref.id,
    on: 'plan',
    sha256: plan_sha256.slice(0, 12),
    file: null,
    side: null,
    line,
    end_line: null,
    step: null,
    quote: 'Second.',
    text: 'Why?\nTell me.',
    sent: false,
    resolved: false,
    status: 'draft',
    present_line: line,
    replies: [],
  })
  const { data } = await events.next(({ event }) => event === 'comment_added')
  t.match(envelope({ data }).payload, { id: one.id, line })
  const step = await must(app, 'POST', comments, { text: 'Shorter.', step: 'test' })
  t.match(step, { step: 'test', end_line: step.line + 2, quote: /run id=test[\s\S]*hi\n```$/ })
  const range = await must(app, 'POST', comments, { text: 'Both.', line, end_line: line + 3 })
  t.match(range, { line, end_line: line + 3, quote: /^Second\.\n\n```sh/ })
  const whole = await must(app, 'POST', comments, { text: 'All of it.' })
  t.match(whole, { line: null, quote: '', status: 'draft' })
  const quoted = await must(app, 'POST', comments, { text: 'Found.', quote: 'Second.' })
  t.equal(quoted.line, line)
  const all = await listed(ref)
  t.strictSame(
    all.map(({ id }: { id: string }) => id),
    [one, step, range, whole, quoted].map(({ id }) => id),
  )
  const session = await must(app, 'GET', ref.path)
  t.strictSame(session.comments, { draft: 5, open: 0, total: 5, list: all })
  const [head] = await must(app, 'GET', `/cases/${ref.case_id}/sessions?content=false`)
  t.strictSame(head.comments, { draft: 5, open: 0, total: 5 })
  t.equal(session.plan, plan, 'the plan is what it was')
  t.match(readFileSync(fileOf(ref.case_id), 'utf8'), /\n## Review\n\n- \[ \] [0-9a-f]{8} · /)

  await t.test('a place that is not there is an error', async (t) => {
    const post = (body: object) => app.request('POST', comments, { text: 'x', ...body })
    const wrong: [object, number, RegExp][] = [
      [{ line: 900 }, 400, /the plan has \d+ lines/],
      [{ line: 0 }, 400, /line/],
      [{ line: 2, end_line: 1 }, 400, /end_line/],
      [{ end_line: 2 }, 400, /line/],
      [{ step: 'none' }, 400, /no step "none"; its steps are test/],
      [{ step: 'test', line: 1 }, 400, /not both/],
      [{ text: ' \n' }, 400, /text/],
      [{ text: '\u0007' }, 400, /text/],
      [{ quote: 'not there' }, 400, /quote/],
      [{ line, quote: 'Other.' }, 409, /plan_changed|has changed/],
      [{ line, plan_sha256: '0'.repeat(64) }, 409, /has changed/],
      [{ diff: { file: 'a', line: 1, side: 'new' } }, 422, /no patch/],
      [{ diff: { file: 'a', line: 1, side: 'new' }, line }, 400, /not both/],
    ]
    for (const [body, status, detail] of wrong) {
      const answer = await post(body)
      t.equal(answer.status, status, JSON.stringify(body))
      t.match(answer.json.detail, detail, JSON.stringify(body))
    }
  })
})

t.test('a draft can be edited and deleted, a sent comment resolved and answered', async (t) => {
  const { ref, comments, plan } = await openPlanned()
  const line = lineOf(plan, 'Second.')
  const one = await must(app, 'POST', comments, { text: 'Why?', line })
  const two = await must(app, 'POST', comments, { text: 'Delete me.' })
  const edited = await must(app, 'PUT', `${comments}/${one.id}`, { text: 'How?' })
  t.equal(edited.text, 'How?')
  t.equal((await app.request('DELETE', `${comments}/${two.id}`)).status, 204)
  t.equal((await app.request('DELETE', `${comments}/${two.id}`)).status, 404)
  t.equal((await app.request('PUT', `${comments}/${one.id}`, {})).status, 400)
  t.equal((await app.request('POST', `${ref.path}/revise`, { note: ' ' })).status, 200)
  await reaches(app, ref, 'plan_ready')
  t.equal((await app.request('PUT', `${comments}/${one.id}`, { text: 'No.' })).status, 422)
  t.equal((await app.request('DELETE', `${comments}/${one.id}`)).status, 422)
  const resolved = await must(app, 'PUT', `${comments}/${one.id}`, { resolved: true })
  t.match(resolved, { status: 'resolved', sent: true, text: 'How?' })
  const reopened = await must(app, 'PUT', `${comments}/${one.id}`, { resolved: false })
  t.equal(reopened.status, 'open')
  const answered = await must(app, 'POST', `${comments}/${one.id}/replies`, {
    text: 'Thus: sk-0123456789abcdef',
  })
  const text = 'Thus: [redacted SHOP_API_KEY]'
  t.match(answered.replies, [{ text, created_at: /Z$/ }])
  t.equal((await app.request('POST', `${comments}/00000000/replies`, { text: 'x' })).status, 404)
  const headers = { 'casefile-client': 'mcp' }
  const unnamed = await app.request(
    'POST',
    `${comments}/${one.id}/replies`,
    { text: 'Me.' },
    headers,
  )
  t.equal(
    unnamed.json.replies[1].author,
    'agent',
    'an MCP client without a name is not the operator',
  )
})

t.test('revise sends the note and the drafts', async (t) => {
  const { ref, comments, plan } = await openPlanned()
  const none = await app.request('POST', `${ref.path}/revise`)
  t.equal(none.status, 400)
  t.match(none.json.errors, [{ path: 'note' }])
  const line = lineOf(plan, 'Second.')
  const one = await must(app, 'POST', comments, { text: 'Why?', line })
  const two = await must(app, 'POST', comments, { text: 'Shorter.', step: 'test' })
  const events = await stream(app, ref)
  await must(app, 'POST', `${ref.path}/revise`, { note: 'Again, please.' })
  const { data } = await events.next(({ event }) => event === 'comments_sent')
  t.match(envelope({ data }).payload, { count: 2, with: 'revise' })
  const sent = await listed(ref)
  t.match(sent, [
    { id: one.id, sent: true },
    { id: two.id, sent: true },
  ])
  const revised = readFileSync(fileOf(ref.case_id), 'utf8')
  const [noted, ...others] = revised.match(/^.*Again, please\..*$/gm) ?? []
  t.match(noted, /plan_sent_back comments=2 comments_text="On line \d+:\\n\\n> Second\.\\n\\nWhy\?/)
  t.strictSame(others, [], 'the file has the note once')
  const move = await events.next(({ event }) => event === 'session_state_changed')
  t.match(envelope(move).payload.reason, /^Again, please\.\n\nOn line \d+:\n\n> Second\.\n\nWhy\?/)
  t.match(revised, /On lines \d+-\d+ \(step test\):/)
  const history = await must(app, 'GET', `/cases/${ref.case_id}/history`)
  t.match(
    history.find(({ kind }: { kind: string }) => kind === 'sent_back'),
    { what: 'session 1: sent the plan back with 2 comments', text: 'Again, please.' },
  )
})

t.test('the status follows the plan', async (t) => {
  const { ref, comments, plan } = await openPlanned()
  const line = lineOf(plan, 'Second.')
  const kept = await must(app, 'POST', comments, { text: 'Why?', line })
  const gone = await must(app, 'POST', comments, { text: 'Shorter.', line: lineOf(plan, 'First.') })
  const next = `New.\n\n${plan.replace('First.', 'Other.')}`
  const edit = { plan: next, expected_plan_sha256: sha256(plan) }
  await must(app, 'PUT', `${ref.path}/plan`, edit)
  const again = await app.request('PUT', `${ref.path}/plan`, edit)
  t.equal(again.status, 409)
  t.equal(again.json.code, 'plan_changed')
  const statuses = async () =>
    Object.fromEntries(
      (await listed(ref)).map(({ id, status, present_line }: Record<string, unknown>) => [
        id,
        [status, present_line],
      ]),
    )
  t.strictSame(await statuses(), { [kept.id]: ['draft', line + 2], [gone.id]: ['stale', null] })
  const step = await must(app, 'POST', comments, { text: 'Louder.', step: 'test' })
  const louder = next.replace('echo hi', 'echo HI')
  await must(app, 'PUT', `${ref.path}/plan`, { plan: louder })
  const places = (await listed(ref)).map(
    ({ id, near_line }: { id: string; near_line: number | null }) => [id, near_line],
  )
  t.strictSame(places, [
    [kept.id, null],
    [gone.id, null],
    [step.id, step.end_line],
  ])
  await must(app, 'DELETE', `${comments}/${step.id}`)
  await must(app, 'POST', `${ref.path}/approve`, { note: 'Go.' })
  await reaches(app, ref, 'complete')
  t.strictSame(await statuses(), { [kept.id]: ['open', line + 2], [gone.id]: ['addressed', null] })
  const file = readFileSync(fileOf(ref.case_id), 'utf8')
  t.match(file, /plan_approved [^\n]*note=Go\. comments=2 comments_text="On line \d+/)
  const session = await must(app, 'GET', ref.path)
  t.strictSame(session.problems, [], 'the evidence still has its hash')

  await t.test('a complete session is planned again with its comments', async (t) => {
    await must(app, 'POST', comments, { text: 'And the diff?' })
    const made = await must(app, 'POST', `/cases/${ref.case_id}/sessions`, { again: ref.id })
    const note = readFileSync(app.file(ref.case_id, 'sessions', '2.md'), 'utf8')
    t.match(note, /session_created [^\n]*note="On line \d+:[^\n]*And the diff\?/)
    t.equal(made.type, 'implementing')
    t.match(readFileSync(fileOf(ref.case_id), 'utf8'), /comments_sent count=2 with=session/)
    await reaches(app, { ...ref, path: `/cases/${ref.case_id}/sessions/${made.id}` }, 'plan_ready')
    for (const { id } of await listed(ref)) {
      await must(app, 'PUT', `${comments}/${id}`, { resolved: true })
    }
    const none = await app.request('POST', `/cases/${ref.case_id}/sessions`, { again: ref.id })
    t.equal(none.status, 422)
    t.match(none.json.detail, /no open comments/)
  })

  await t.test('a comment on the diff of the run', async (t) => {
    t.match((await must(app, 'GET', `${ref.path}/approval`)).folder.changes, [
      { file: 'new.txt', left_by: { session_id: ref.id, number: 1, state: 'complete' } },
    ])
    const diff = { file: 'new.txt', line: 1, end_line: 2, side: 'new' }
    const made = await must(app, 'POST', comments, { text: 'Why two?', diff })
    const quote = `a␍${FORGED}\nb`
    t.match(made, { on: 'diff', quote, side: 'new', file: 'new.txt', status: 'draft' })
    for (const each of [{ file: 'other.txt' }, { side: 'old' }, { line: 3, end_line: 3 }]) {
      const answer = await app.request('POST', comments, { text: 'x', diff: { ...diff, ...each } })
      t.equal(answer.status, 400, JSON.stringify(each))
    }
    t.match((await listed(ref)).at(-1), {
      id: made.id,
      line: 1,
      end_line: 2,
      quote,
      author: /^(?!alice)/,
    })
  })
})

t.test('a person ticks a comment in the file', async (t) => {
  const { ref, comments } = await openPlanned()
  const one = await must(app, 'POST', comments, { text: 'Why?' })
  const events = await stream(app, ref)
  const file = fileOf(ref.case_id)
  writeFileSync(file, readFileSync(file, 'utf8').replace(`- [ ] ${one.id}`, `- [x] ${one.id}`))
  const { data } = await events.next(({ event }) => event === 'comment_changed')
  t.match(envelope({ data }).payload, { id: one.id, what: 'resolved' })
  t.match(await listed(ref), [{ id: one.id, status: 'resolved' }])
})

t.test('the comments of a session that has ended do not change', async (t) => {
  const { ref, comments } = await openPlanned()
  const one = await must(app, 'POST', comments, { text: 'Why?' })
  await must(app, 'POST', `${ref.path}/abandon`)
  for (const [method, path, body] of [
    ['POST', comments, { text: 'x' }],
    ['PUT', `${comments}/${one.id}`, { resolved: true }],
    ['DELETE', `${comments}/${one.id}`, undefined],
    ['POST', `${comments}/${one.id}/replies`, { text: 'x' }],
  ] as const) {
    const answer = await app.request(method, path, body)
    t.equal(answer.status, 422)
    t.equal(answer.json.code, 'session_ended')
    t.match(answer.json.detail, /before proof is attached/)
  }
  t.match(await listed(ref), [{ id: one.id, status: 'draft' }])
})
