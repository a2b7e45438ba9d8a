import t from 'tap'
import { useParser } from '../../../src/markdown/parser-pool.ts'
import { readSession } from '../../../src/markdown/session-file.ts'
import { renumberedSession } from '../../../src/markdown/session-renumbering.ts'
import { editedSession, newSessionText } from '../../../src/markdown/session-texts.ts'
import { appendSeal } from '../../../src/markdown/trail-edit.ts'
import type { Session, SessionEdit } from '../../../src/model/session.ts'
import { sessionMove } from '../../../src/model/session.ts'
import { COPY, type Files, merged } from '../../fixtures/merge-folder.ts'
import { CASE_ID, NOW, SESSION, TRAIL } from '../../fixtures/records.ts'

t.teardown(useParser())

const ids = ['aaaaaaaa-0000-4000-8000-000000000001', 'bbbbbbbb-0000-4000-8000-000000000002']

async function created(number: number, which = 0, started_at = NOW): Promise<string> {
  const id = ids[which]!
  const [first, second] = TRAIL
  const trail = [
    { ...first!, time: started_at, fields: { ...first!.fields, session_id: id } },
    { ...second!, time: started_at },
  ] as Session['trail']
  return newSessionText({ ...SESSION, id, number, started_at, trail })
}

function read(text: string, number: number): Session {
  const { value, problems } = readSession(text, {
    case_id: CASE_ID,
    number,
    case_title: '',
    created_at: NOW,
  })
  t.strictSame(problems, [], 'a readable session')
  return value!
}

async function edited(text: string, number: number, edit: (session: Session) => SessionEdit) {
  const session = read(text, number)
  return editedSession(text, session, edit(session))
}

const at = (minute: number) => `2026-11-20T10:${String(minute).padStart(2, '0')}:00.000Z`

const planned = (text: string, number: number, minute: number, plan = 'The plan.') =>
  edited(text, number, (session) => ({
    ...sessionMove(session, { trigger: 'planned', now: at(minute) }),
    texts: { plan },
  }))

const abandoned = (text: string, number: number, minute: number) =>
  edited(text, number, (session) => sessionMove(session, { trigger: 'abandon', now: at(minute) }))

async function both(base: Files, ours: Files, theirs: Files, lastNumber = 0) {
  const result = await merged({ base, ours, theirs }, lastNumber)
  const swapped = await merged({ base, ours: theirs, theirs: ours }, lastNumber)
  const again = await merged({ base, ours: result.texts, theirs }, lastNumber)
  t.strictSame(again.texts, result.texts, 'merging theirs again changes nothing')
  return { ...result, swapped: swapped.texts }
}

t.test('a trail that continues the other wins', async (t) => {
  const base = await created(2)
  const plan = await planned(base, 2, 1)
  const end = await abandoned(plan, 2, 2)
  const { texts, copies, swapped } = await both(
    { 'sessions/2.md': base },
    { 'sessions/2.md': plan },
    { 'sessions/2.md': end },
  )
  t.strictSame(texts, { 'sessions/2.md': end })
  t.strictSame(swapped, texts)
  t.strictSame(copies, [])
})

t.test(
  'two that continued a session in other ways: ours stays, theirs is a conflict copy',
  async (t) => {
    const base = await created(2)
    const [ours, theirs] = [await planned(base, 2, 1), await abandoned(base, 2, 2)]
    const { texts, copies } = await both(
      { 'sessions/2.md': base },
      { 'sessions/2.md': ours },
      { 'sessions/2.md': theirs },
    )
    const copy = `sessions/2.${COPY}.md`
    t.strictSame(texts, { 'sessions/2.md': ours, [copy]: theirs })
    t.strictSame(copies, [{ path: 'sessions/2.md', copy }])
  },
)

t.test(
  'a session of an older program, with a line for each event, meets one of this program',
  async (t) => {
    const older = (text: string) => text.replace('<details>\n\n', '').replace('\n</details>\n', '')
    const base = older(await created(2))
    const line = (number: number, state: string, minute: number) =>
      `${number}. ${at(minute)} session_state_changed old_state=planning new_state=${state}\n`
    const withState = (text: string, state: string) =>
      text.replace('state: planning', `state: ${state}`)
    const plan = withState(`${base}${line(3, 'plan_ready', 1)}`, 'plan_ready')
    const stopped = withState(`${base}${line(3, 'abandoned', 2)}`, 'abandoned')
    const end = await abandoned(plan, 2, 3)
    t.match(end, /plan_ready\n4\. .* session_abandoned .*\n5\. .* session_sealed sha256=\w+\n$/)
    const copy = `sessions/2.${COPY}.md`
    const cases: [name: string, ours: string, theirs: string, Files][] = [
      ['one went on', base, end, { 'sessions/2.md': end }],
      ['one is further', plan, end, { 'sessions/2.md': end }],
      [
        'each went on',
        end,
        plan.replace(at(1), at(4)),
        { 'sessions/2.md': end, [copy]: plan.replace(at(1), at(4)) },
      ],
      [
        'each in its form',
        await planned(base, 2, 1),
        appendSeal(stopped, at(2)),
        { 'sessions/2.md': await planned(base, 2, 1), [copy]: appendSeal(stopped, at(2)) },
      ],
    ]
    for (const [name, ours, theirs, expected] of cases) {
      const { texts } = await both(
        { 'sessions/2.md': base },
        { 'sessions/2.md': ours },
        { 'sessions/2.md': theirs },
      )
      t.strictSame(texts, expected, name)
    }
  },
)

t.test('a run that is complete and sealed stays over an abandon, on whichever side', async (t) => {
  const plan = await planned(await created(2), 2, 1)
  const end = await abandoned(plan, 2, 4)
  let run = await edited(plan, 2, (session) => ({
    ...sessionMove(session, { trigger: 'approve', now: at(2) }),
  }))
  run = await edited(run, 2, (session) => sessionMove(session, { trigger: 'start', now: at(3) }))
  run = await edited(run, 2, (session) => ({
    ...sessionMove(session, { trigger: 'finish', now: at(5) }),
    seal: { time: at(6) },
  }))
  const versions = [{ 'sessions/2.md': plan }, { 'sessions/2.md': run }, { 'sessions/2.md': end }]
  const { texts, swapped } = await both(versions[0]!, versions[1]!, versions[2]!)
  t.strictSame(texts, { 'sessions/2.md': run, [`sessions/2.${COPY}.md`]: end })
  t.strictSame(swapped, texts)
})

t.test('a plan that a person edited meets a trail that went on', async (t) => {
  const base = await planned(await created(2), 2, 1, 'One.\n\nTwo.')
  const ours = base.replace('One.', 'One, by hand.')
  const end = await abandoned(base, 2, 2)
  const { texts } = await both(
    { 'sessions/2.md': base },
    { 'sessions/2.md': ours },
    { 'sessions/2.md': end },
  )
  t.strictSame(texts, { 'sessions/2.md': end, [`sessions/2.${COPY}.md`]: ours })
})

t.test('two sessions with one number: one that goes on keeps it, else the earlier', async (t) => {
  const [early, late] = [await created(2, 0, at(1)), await created(2, 1, at(2))]
  const open = await both({}, { 'sessions/2.md': late }, { 'sessions/2.md': early })
  t.equal(open.texts['sessions/2.md'], early)
  t.equal(read(open.texts['sessions/3.md']!, 3).id, ids[1])
  t.strictSame(open.swapped, open.texts, 'every clone gets the same')
  t.strictSame(open.renumbered, [{ id: ids[1], from: 2, to: 3 }])
  const sealed = await abandoned(early, 2, 3)
  const { texts, swapped } = await both({}, { 'sessions/2.md': late }, { 'sessions/2.md': sealed })
  t.equal(texts['sessions/2.md'], late)
  t.equal(read(texts['sessions/3.md']!, 3).id, ids[0])
  t.match(texts['sessions/3.md'], 'renumbered from=2 to=3 was_sealed=')
  t.strictSame(swapped, texts)
})

t.test('a number that was given on this machine is not given again', async (t) => {
  const twins = [{ 'sessions/2.md': await created(2) }, { 'sessions/2.md': await created(2, 1) }]
  const { texts } = await both({}, twins[0]!, twins[1]!, 7)
  t.strictSame(Object.keys(texts), ['sessions/2.md', 'sessions/8.md'])
})

t.test('renumbered on one side, continued on the other', async (t) => {
  const base = await created(2)
  const moved = await renumberedSession(base, { from: 2, to: 5, time: at(1) })
  const plan = await planned(base, 2, 3)
  const end = await abandoned(plan, 2, 4)
  for (const [name, text] of Object.entries({ plan, end })) {
    const { texts, copies, swapped } = await both(
      { 'sessions/2.md': base },
      { 'sessions/5.md': moved, 'sessions/2.md': await created(2, 1) },
      { 'sessions/2.md': text },
    )
    t.strictSame(Object.keys(texts), ['sessions/2.md', 'sessions/5.md'], name)
    t.strictSame(copies, [])
    t.strictSame(swapped, texts)
    const session = read(texts['sessions/5.md']!, 5)
    t.equal(session.state, read(text, 2).state)
    for (const line of text.match(/^\d+\. .*$/gm)!.filter((each) => !each.includes('_sealed')))
      t.match(texts['sessions/5.md'], `\n${line}\n`, 'word for word')
  }
})

t.test('renumbered on both sides, to different numbers', async (t) => {
  const base = await abandoned(await created(2), 2, 1)
  const [four, six] = [
    await renumberedSession(base, { from: 2, to: 4, time: at(2) }),
    await renumberedSession(base, { from: 2, to: 6, time: at(3) }),
  ]
  const { texts, swapped } = await both(
    { 'sessions/2.md': base },
    { 'sessions/6.md': six },
    { 'sessions/4.md': four },
  )
  t.strictSame(texts, { 'sessions/4.md': four })
  t.strictSame(swapped, texts)
})

t.test('an approval comes from the side whose session stays', async (t) => {
  const base = await created(2)
  const plan = await planned(base, 2, 1)
  const name = `sessions/${ids[0]}.approval`
  const { texts } = await both(
    { 'sessions/2.md': base },
    { 'sessions/2.md': base, [name]: 'ours', [`${name}.sig`]: 'ours' },
    { 'sessions/2.md': plan, [name]: 'theirs', [`${name}.sig`]: 'theirs' },
  )
  t.equal(texts[name], 'theirs')
  t.equal(texts[`${name}.sig`], 'theirs')
})

t.test('a session that cannot be read stays whole, and never hides a readable one', async (t) => {
  const [base, broken] = [await created(2), '<<<<<<< a\n=======\n>>>>>>> b\n']
  const taken = await both(
    { 'sessions/2.md': base },
    { 'sessions/2.md': base },
    { 'sessions/2.md': broken },
  )
  t.strictSame(taken.texts, { 'sessions/2.md': broken })
  const ours = await planned(base, 2, 1)
  const { texts } = await both(
    { 'sessions/2.md': base },
    { 'sessions/2.md': ours },
    { 'sessions/2.md': broken },
  )
  t.strictSame(texts, { 'sessions/2.md': ours, [`sessions/2.${COPY}.md`]: broken })
})

t.test('artifacts in git move with their session', async (t) => {
  const { texts } = await both(
    {},
    { 'sessions/2.md': await created(2, 0, at(1)), 'artifacts/2-a.tap': 'ours' },
    { 'sessions/2.md': await created(2, 1, at(2)), 'artifacts/2-a.tap': 'theirs' },
  )
  t.equal(texts['artifacts/2-a.tap'], 'ours')
  t.equal(texts['artifacts/3-a.tap'], 'theirs')
})
