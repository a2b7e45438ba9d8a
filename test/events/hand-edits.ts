import { createHash, randomUUID } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import t from 'tap'
import { listen } from '../fixtures/published-events.ts'
import { must, newSession, planned, reaches, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Saves as an editor does that writes a new file and renames it. */
function save(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}~`, text)
  renameSync(`${path}~`, path)
}

function change(path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(path, 'utf8')
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`${from} is not in ${path}`)
  save(path, changed)
}

const proofText = (type: string, content: string, more = '') =>
  `---\ntype: ${type}\n${more}---\n\n\`\`\`text\n${content}\n\`\`\`\n`
const verified = (content: string) =>
  `sha256: ${sha256(content)}\nverified: true\nverified_at: 2026-11-20T10:00:00.000Z\n`

const PROOF = '11111111-1111-4111-8111-111111111111'

t.test('a hand edit gives the events of the same request', async (t) => {
  const app = await openTestService(t)
  const published = listen(t, app)
  const { id } = await app.newCase({ title: 'A', description: 'What happens.' })
  const file = (...names: string[]) => app.file(id, ...names)
  t.strictSame(await published.newWords(), ['case_created'])
  const edits: [string, () => void, string[]][] = [
    ['the title', () => change(file('case.md'), 'title: A', 'title: B'), ['case_updated']],
    ['the description', () => change(file('case.md'), 'What', 'Whatever'), ['case_updated']],
    ['tags', () => change(file('case.md'), 'tags: []', 'tags: [auth]'), ['case_updated']],
    ['the type', () => change(file('case.md'), 'type: bug', 'type: feature'), ['case_updated']],
    [
      'the outcome',
      () => change(file('case.md'), /outcome:.*/, 'outcome: Duplicate'),
      ['case_updated'],
    ],
    [
      'the state',
      () => change(file('case.md'), 'state: OPEN', 'state: BLOCKED'),
      ['case_state_changed OPEN→BLOCKED'],
    ],
    [
      'the state and the title',
      () =>
        change(file('case.md'), /title: B([\s\S]*)state: BLOCKED/, 'title: C$1state: VERIFYING'),
      ['case_state_changed BLOCKED→VERIFYING', 'case_updated'],
    ],
    [
      'a comment and the order of keys: nothing that a request could have changed',
      () => change(file('case.md'), /^title: C\n/m, '# mine\ntitle: "C"\n'),
      [],
    ],
    [
      'a checklist line added',
      () =>
        appendFileSync(file('case.md'), '\n## Proof checklist\n\n- [ ] Passes (trace, required)\n'),
      ['case_updated'],
    ],
    ['ticked', () => change(file('case.md'), '[ ]', '[x]'), ['case_updated']],
    ['edited', () => change(file('case.md'), 'Passes', 'All pass'), ['case_updated']],
    [
      'RESOLVED while the gate is shut',
      () => change(file('case.md'), 'state: VERIFYING', 'state: RESOLVED'),
      ['problem_found proof_gate case.md'],
    ],
    [
      'a proof of the wrong type, verified',
      () => save(file('proof', `${PROOF}.md`), proofText('log', 'x', verified('x'))),
      ['proof_created log', 'proof_updated log true'],
    ],
    [
      'the proof edited into the right type: the gate opens',
      () => change(file('proof', `${PROOF}.md`), 'type: log', 'type: trace'),
      [
        'case_state_changed VERIFYING→RESOLVED',
        'proof_updated trace true',
        'problem_cleared proof_gate case.md',
      ],
    ],
    [
      'its content changed: it proves nothing any more',
      () => change(file('proof', `${PROOF}.md`), '\nx\n', '\ny\n'),
      [
        'case_state_changed RESOLVED→VERIFYING',
        'proof_updated trace false',
        `problem_found proof_changed proof/${PROOF}.md`,
        'problem_found proof_gate case.md',
      ],
    ],
    [
      'the checklist removed',
      () => change(file('case.md'), /\n## Proof checklist[\s\S]*/, ''),
      ['case_updated'],
    ],
    [
      'the proof deleted',
      () => rmSync(file('proof', `${PROOF}.md`)),
      ['proof_updated trace false', `problem_cleared proof_changed proof/${PROOF}.md`],
    ],
    ['a memory file', () => save(file('notes.md'), 'one\n'), ['memory_updated notes.md']],
    ['more of it', () => appendFileSync(file('notes.md'), 'two\n'), ['memory_updated notes.md']],
    ['the same bytes again', () => save(file('notes.md'), 'one\ntwo\n'), []],
    ['a memory file removed', () => rmSync(file('notes.md')), ['memory_updated notes.md']],
    [
      'what editors leave beside',
      () => {
        for (const name of ['.case.md.swp', 'case.md~', '4913', '#case.md#', 'case.md.tmp'])
          writeFileSync(file(name), 'x')
      },
      [],
    ],
  ]
  for (const [name, edit, expected] of edits) {
    await t.test(name, async (t) => {
      edit()
      t.strictSame(await published.newWords(), expected)
    })
  }
  t.equal((await must(app, 'GET', `/cases/${id}`)).state, 'VERIFYING')
})

t.test('cases are made, copied, moved and deleted as folders', async (t) => {
  const app = await openTestService(t)
  const published = listen(t, app)
  const { id } = await app.newCase({ title: 'A' })
  const [made, copy, moved] = [randomUUID(), randomUUID(), randomUUID()]
  await published.newEvents()
  save(app.file(made, 'case.md'), '# Made by hand\n')
  t.strictSame(await published.newWords(), ['case_created'])
  t.match(await must(app, 'GET', `/cases/${made}`), { title: 'Made by hand', state: 'OPEN' })

  mkdirSync(app.file(moved)) // a folder without any record is no case
  cpSync(app.file(id), app.file(copy), { recursive: true })
  t.strictSame(await published.newWords(), ['problem_found duplicate_id case.md'])
  change(app.file(copy, 'case.md'), `id: ${id}`, `id: ${copy}`)
  t.strictSame(await published.newWords(), ['case_created', 'problem_cleared duplicate_id case.md'])
  rmSync(app.file(moved), { recursive: true })
  t.strictSame(await published.newWords(), [], 'nor is it deleted')
  renameSync(app.file(made), app.file(moved))
  t.strictSame((await published.newWords()).sort(), ['case_created', 'case_deleted'])
  rmSync(app.file(id), { recursive: true })
  t.strictSame(await published.newWords(), ['case_deleted'])
  t.equal((await app.request('GET', `/cases/${id}`)).status, 404)
})

const lastActs = (app: TestService, caseId: string, number: number, count: number) =>
  readFileSync(app.file(caseId, 'sessions', `${number}.md`), 'utf8')
    .trimEnd()
    .replace(/\n\n<\/details>$/, '')
    .split('\n')
    .slice(-count)

t.test('a plan edited by hand gets one line, and is what an approval runs', async (t) => {
  const app = await openTestService(t)
  const published = listen(t, app)
  const ref = await planned(app, { runbook: step('echo first > made') })
  const path = app.file(ref.case_id, 'sessions', '1.md')
  await published.newEvents()
  change(path, 'echo first', 'echo second')
  change(path, 'second', 'third') // two saves, one line
  const { mtimeMs } = statSync(path)
  const edited = await published.next((event) => event.event_type === 'plan_edited')
  const quietMs = Date.parse(edited.timestamp) - mtimeMs
  t.ok(quietMs > 1990, `not written into while the person may still save: after ${quietMs} ms`)
  const { plan, plan_sha256 } = await must(app, 'GET', ref.path)
  t.equal(edited.payload.sha256, plan_sha256)
  t.strictSame(await published.newWords(), ['plan_edited hand'])

  change(path, '## Hypothesis\n\n', '## Hypothesis\n\nI say: ')
  const again = await published.next((event) => event.event_type === 'plan_edited')
  const { hypothesis } = await must(app, 'GET', ref.path)
  t.match(again.payload, { sha256: sha256(plan), hypothesis_sha256: sha256(hypothesis) })
  await must(app, 'POST', `${ref.path}/approve`, { plan_sha256 })
  await reaches(app, ref, 'complete')
  t.equal(readFileSync(`${app.root}/made`, 'utf8'), 'third\n')

  await t.test('what only a request may do is a problem, and nothing more', async (t) => {
    for (const state of ['plan_ready', 'approved', 'executing']) {
      change(path, /^state: .*$/m, `state: ${state}`)
      const problems = [{ code: 'state_by_hand', line: 7 }]
      t.match(await must(app, 'GET', ref.path), { state: 'complete', problems }, state)
    }
    change(path, /^state: .*$/m, 'state: complete')
    t.strictSame((await must(app, 'GET', ref.path)).problems, [])
  })

  await t.test('a proof put there by hand ends its session, which is sealed', async (t) => {
    await published.newEvents()
    const text = proofText('trace', 'fine', `session_id: ${ref.id}\n`)
    save(app.file(ref.case_id, 'proof', `${PROOF}.md`), text)
    await published.next(({ event_type }) => event_type === 'session_sealed')
    t.strictSame(await published.newWords(), [
      'proof_created trace',
      'proof_attached trace',
      'session_sealed',
    ])
    t.match(await must(app, 'GET', ref.path), { proof_attached: true, problems: { length: 0 } })
    change(path, '## Plan', '## Plan ')
    t.strictSame(await published.newWords(), ['problem_found session_changed sessions/1.md'])
  })
})

t.test('what is done to a session by hand is carried out', async (t) => {
  const app = await openTestService(t, { limits: { handEdit: 500 } })
  const published = listen(t, app)
  await t.test('state: abandoned of a plan that waits', async (t) => {
    const ref = await planned(app)
    change(app.file(ref.case_id, 'sessions', '1.md'), 'state: plan_ready', 'state: abandoned')
    t.equal((await must(app, 'GET', ref.path)).state, 'abandoned')
    t.match(await app.request('POST', `${ref.path}/approve`), { status: 422 })
    await published.next(({ event_type }) => event_type === 'session_sealed')
    t.match(lastActs(app, ref.case_id, 1, 2), [
      / session_abandoned .*state=abandoned$/,
      / session_sealed /,
    ])
    t.strictSame((await must(app, 'GET', ref.path)).problems, [])
  })
  await published.newEvents()
  await t.test('of a run: its step is stopped', async (t) => {
    const ref = await planned(app, { runbook: step('sleep 600') })
    await must(app, 'POST', `${ref.path}/approve`)
    await published.next(({ event_type }) => event_type === 'step_started')
    change(app.file(ref.case_id, 'sessions', '1.md'), 'state: executing', 'state: abandoned')
    await published.next(({ event_type }) => event_type === 'session_sealed')
    t.match(await must(app, 'GET', ref.path), { state: 'abandoned', problems: { length: 0 } })
    t.match(lastActs(app, ref.case_id, 1, 2), [
      / session_abandoned .*state=abandoned$/,
      / session_sealed /,
    ])
  })
  await t.test('a plain file in place of latest.md is kept as a conflict copy', async (t) => {
    const ref = await planned(app)
    const sessions = app.file(ref.case_id, 'sessions')
    save(`${sessions}/latest.md`, 'What an editor wrote.\n')
    await published.next(({ payload }) => payload.code === 'conflict_copy')
    const copy = readdirSync(sessions).find((name) => name.startsWith('latest.conflict-'))
    t.equal(readFileSync(`${sessions}/${copy}`, 'utf8'), 'What an editor wrote.\n')
    t.match(readFileSync(`${sessions}/latest.md`, 'utf8'), /^---\nid: /)
  })
})

t.test(
  'what a request wrote into a memory file has its event, whatever came after it',
  async (t) => {
    const app = await openTestService(t)
    const published = listen(t, app)
    const { id } = await app.newCase()
    await app.request('PUT', `/cases/${id}/memory/notes.md`, 'one\n')
    t.strictSame(await published.newWords(), ['case_created', 'memory_updated notes.md'])
    const write = (then: () => void) =>
      app.service.store.withFiles(id, async (_, { wrote }) => {
        writeFileSync(app.file(id, 'notes.md'), 'two\n')
        wrote(app.file(id, 'notes.md'), 'notes.md')
        then()
      })
    await write(() => {})
    t.strictSame(await published.newWords(), ['memory_updated notes.md'], 'once')
    await write(() => save(app.file(id, 'notes.md'), 'two\n'))
    t.strictSame(await published.newWords(), ['memory_updated notes.md'], 'put back to what it was')
    await write(() => rmSync(app.file(id, 'notes.md')))
    t.strictSame(await published.newWords(), ['memory_updated notes.md'], 'removed')
    await write(() => rmSync(app.file(id, 'notes.md')))
    t.match(await published.newWords(), ['memory_updated notes.md'], 'gone before and after')
    await write(() => rmSync(app.file(id), { recursive: true }))
    t.strictSame((await published.newWords())[0], 'memory_updated notes.md', 'the case is gone')
  },
)

t.test('a session file deleted by hand is a line of the history', async (t) => {
  const app = await openTestService(t, { limits: { handEdit: 100 } })
  const published = listen(t, app)
  const ref = await planned(app)
  const file = app.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(file)
  const told = async (count: number) => {
    const all = () => String(readFileSync(app.file(ref.case_id, 'history.md')))
    while ((all().match(/ deleted session 1 by hand$/gm)?.length ?? 0) < count) await delay(5)
    return all().match(/[^·]+ by hand$/gm)
  }
  const shown = async () => {
    const { state, problems } = (await app.request('GET', `/cases/${ref.case_id}`)).json
    return [state, problems]
  }
  /** The file of a session that still runs is written again. */
  while (app.service.running.size > 0) await setImmediate()
  await published.newEvents()
  rmSync(file)
  t.same(await told(1), [' deleted session 1 by hand'])
  t.strictSame(await published.newWords(), [], 'no state of it is invented')
  t.strictSame(await shown(), ['PLANNING', []])
  const next = await newSession(app, ref.case_id, {})
  t.match((await app.request('GET', next.path)).json, { number: 2 }, 'its number is not used again')

  await app.close()
  save(file, String(text))
  await app.restart()
  await app.close()
  rmSync(file)
  await app.restart()
  t.match((await told(2))?.[1], ' deleted session 1 by hand', 'while no service ran')
  rmSync(app.file(ref.case_id, 'sessions', '2.md'))
  const last = await newSession(app, ref.case_id, {})
  t.match((await app.request('GET', last.path)).json, { number: 3 }, 'also after a restart')
})
