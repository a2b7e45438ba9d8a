import t from 'tap'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { readSession } from '../../src/markdown/session-file.ts'
import { renumberedSession } from '../../src/markdown/session-renumbering.ts'
import { editedSession, hasOtherTexts, newSessionText } from '../../src/markdown/session-texts.ts'
import { validSession } from '../../src/markdown/valid-session.ts'
import type { Session } from '../../src/model/session.ts'
import { CASE_ID, NOW, SESSION } from '../fixtures/records.ts'
import { movesOf, trailOf } from '../fixtures/trail-of.ts'

t.teardown(useParser())

const ORIGIN = { case_id: CASE_ID, number: 2, case_title: 'x', created_at: NOW }
const created = { type: 'implementing', provider: 'claude', session_id: SESSION.id }

function textOf(
  states: string[] = ['created', 'planning', 'plan_ready'],
  parts: Partial<Session> = {},
) {
  const trail = trailOf(['session_created', created], ...movesOf(...states))
  const state = states.at(-1) as Session['state']
  return newSessionText({
    ...SESSION,
    provider: 'claude',
    started_at: trail[0]!.time,
    state,
    trail,
    ...parts,
  })
}

t.test('what a person writes into the head of a session is ignored, and named', async (t) => {
  const text = await textOf()
  const rows: [from: RegExp, to: string, code: string, value: object][] = [
    [/^state: .*/m, 'state: approved', 'state_by_hand', { state: 'plan_ready' }],
    [/^state: .*/m, 'state: ready', 'unknown_state', { state: 'plan_ready' }],
    [/^provider: .*/m, 'provider: codex', 'field_by_hand', { provider: 'claude' }],
    [/^session_type: .*/m, 'session_type: planning', 'field_by_hand', { type: 'implementing' }],
    [
      /^started_at: .*/m,
      'started_at: 2026-01-01',
      'field_by_hand',
      { started_at: '2026-11-24T00:00:00.000Z' },
    ],
    [/^id: .*/m, 'id: 1a6976d2-9465-43b0-aeaa-34814a49b922', 'field_by_hand', { id: SESSION.id }],
    [/\n---$/m, '\napproved_by: Eve\n---', 'field_by_hand', { approved_by: null }],
    [/^number: 2/m, 'number: 3', 'id_mismatch', {}],
    [/^case_id: .*/m, 'case_id: x', 'id_mismatch', {}],
  ]
  t.strictSame(readSession(text, ORIGIN).problems, [])
  for (const [from, to, code, wanted] of rows) {
    const { value, problems } = readSession(text.replace(from, to), ORIGIN)
    t.ok(
      problems.some((each) => each.code === code),
      `${to}: ${code}`,
    )
    if (value) t.match(value, wanted, to)
  }
})

t.test(
  'who approved a plan is what the trail says, until the approval is taken back',
  async (t) => {
    const approved = (by?: string) =>
      trailOf(
        ['session_created', created],
        ...movesOf('created', 'planning', 'plan_ready'),
        ['plan_approved', { by, via: 'console', plan_sha256: 'x' }],
        ...movesOf('plan_ready', 'approved'),
      )
    const read = async (trail: Session['trail'], inHead: string | null) => {
      const text = await newSessionText({
        ...SESSION,
        provider: 'claude',
        started_at: trail[0]!.time,
        state: 'approved',
        approved_by: inHead,
        trail,
      })
      const { value, problems } = readSession(text.replace(/^state: .*\n/m, ''), ORIGIN)
      return [value?.approved_by, ...problems.map(({ code }) => code)]
    }
    t.strictSame(await read(approved('Ada'), 'Ada'), ['Ada'])
    t.strictSame(await read(approved('Ada'), null), ['Ada'], 'an older file')
    t.strictSame(await read(approved('Ada'), 'Eve'), ['Ada', 'field_by_hand'])
    t.strictSame(await read(approved(), 'Eve'), [null, 'field_by_hand'])
    const back = trailOf(...movesOf('approved', 'plan_ready')).map((line) => ({
      ...line,
      number: 9,
    }))
    t.strictSame(await read([...approved('Ada'), ...back], null), [null])
  },
)

t.test('abandoned in a file stops a session that goes on, and no other', async (t) => {
  const byHand = async (states: string[], parts?: Partial<Session>) =>
    readSession((await textOf(states, parts)).replace(/^state: .*/m, 'state: abandoned'), ORIGIN)
      .value
  t.match(await byHand(['created', 'planning']), { state: 'abandoned', byHand: 'abandoned' })
  const failed = await byHand(['created', 'planning', 'failed'])
  t.match(failed, { state: 'failed' })
  t.notOk('byHand' in failed!)
  const text = (await textOf()).replace(/^state: .*\n/m, '')
  t.match(readSession(text, ORIGIN), { value: { state: 'plan_ready' }, problems: [] })
  const bare = readSession('# Session 2\n\n## Plan\n\nx\n', ORIGIN)
  t.match(bare, { value: { state: 'abandoned' }, problems: [{ code: 'missing_state' }] })
})

t.test('another number changes the title, the number and the names of artifacts', async (t) => {
  const candidates = [
    { artifact: '2-a.tap', note: '2-a' },
    { artifact: '22-b.tap', note: '' },
  ]
  const text = await editedSession(
    await textOf(),
    { ...SESSION, trail: readSession(await textOf(), ORIGIN).value!.trail },
    { texts: { candidates, plan: '# Session 2\n\n`2-a.tap`' } },
  )
  const moved = await renumberedSession(text, { from: 2, to: 12, time: NOW })
  t.match(moved, /^number: 12$/m)
  t.match(moved, /^# Session 12: implementing$/m)
  t.match(moved, '# Session 2\n\n`2-a.tap`', 'the plan stays')
  t.match(moved, '- `12-a.tap`: 2-a\n- `22-b.tap`: \n')
  t.match(moved, /renumbered from=2 to=12$/m)
  const other = text.replace('# Session 2: implementing', '# Session 22: mine')
  t.match(await renumberedSession(other, { from: 2, to: 12, time: NOW }), '# Session 22: mine')
})

t.test('a session that is not one of this case is none', async (t) => {
  const text = await textOf()
  t.match(await validSession(text, CASE_ID, 2), { id: SESSION.id })
  t.match(await validSession(text, CASE_ID, 3), { reason: /number/ })
  t.match(await validSession('# x\n\nstate: planning\n', CASE_ID, 2), { reason: 'it has no id' })
  const ended = await textOf(['created', 'planning', 'failed'])
  t.match(await validSession(ended, CASE_ID, 2), { reason: /seal/ })
  t.equal(await hasOtherTexts(text, ''), false)
  t.equal(await hasOtherTexts(text, 'x'), true)
  const written = text.replace('## Execution output\n', '## Execution output\n\nok\n')
  t.equal(await hasOtherTexts(written, ''), true)
})
