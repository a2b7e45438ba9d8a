import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import t from 'tap'
import { contentHash, newProofText } from '../../src/markdown/proof-file.ts'
import { caseMove } from '../../src/model/decide-session.ts'
import { listen } from '../fixtures/published-events.ts'
import { PROOF } from '../fixtures/records.ts'
import { must, planned, type Ref, step } from '../fixtures/session-client.ts'
import { baselinesIn, changeState } from '../fixtures/state-rows.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const OTHER = '6a0f9d1e-3b52-4a53-9b57-0c4c4f1d2a10'
const FORGED_PROOF = '1b0f9d1e-3b52-4a53-9b57-0c4c4f1d2a10'
const FORGED_SESSION = '2c0f9d1e-3b52-4a53-9b57-0c4c4f1d2a10'
const ITEM = { description: 'The test passes', type: 'benchmark', required: true }
const LINE = '- [ ] The test passes (benchmark, required)'

/** A case with a required item and two proofs, one of them verified, and a session in whose name it runs. */
interface Scene {
  app: TestService
  run: Ref
  id: string
  open: string
  verified: string
}

const app = await openTestService(t, { mount: false })

async function scene(): Promise<Scene> {
  const run = await planned(app, { runbook: step('true') })
  const id = run.case_id
  await must(app, 'POST', `/cases/${id}/proof/checklist`, ITEM)
  const attach = (type: string) =>
    must(app, 'POST', `/cases/${id}/proof`, { type, content: `of ${type}`, session_id: null })
  const open = await attach('benchmark')
  const verified = await attach('trace')
  await must(app, 'PUT', `/cases/${id}/proof/${verified.id}/verify`)
  await must(app, 'PUT', `/cases/${id}/state`, { state: 'IMPLEMENTING' })
  return { app, run, id, open: open.id, verified: verified.id }
}

const begin = ({ app, run }: Scene) =>
  app.service.runGuard.begin({ session_id: run.id, case_id: run.case_id, number: 1, ending: null })
const end = ({ app, run }: Scene) => app.service.runGuard.end(run.id)

async function running(): Promise<Scene> {
  const made = await scene()
  await begin(made)
  return made
}

function edit({ app, id }: Scene, file: string, change: (text: string) => string): void {
  const path = app.file(id, file)
  const text = readFileSync(path, 'utf8')
  const changed = change(text)
  if (changed === text) throw new Error(`nothing to change in ${file}`)
  writeFileSync(path, changed)
}

const get = ({ app, id }: Scene, path = '') => must(app, 'GET', `/cases/${id}${path}`)

async function codes(at: Scene): Promise<string[]> {
  const { problems } = await get(at)
  return problems.map(({ code, file }: { code: string; file: string }) => `${code} ${file}`)
}

/** What the trail of the run says was changed. */
async function named({ app, run }: Scene): Promise<string[]> {
  const events = await app.service.store.read(run.case_id)
  const { trail } = events.sessions.find(({ id }) => id === run.id)!
  return trail
    .filter((line) => line.event === 'changed_during_run')
    .map(({ fields: { what, from, to } }) => `${what}: ${from} → ${to}`)
}

const resolved = (text: string) => text.replace(/^state: .*$/m, 'state: RESOLVED')
const verifiedNow = (text: string) => text.replace('verified: false', 'verified: true')
const dropped = (text: string) => text.replace(`${LINE}\n`, '')

t.test('an agent that edits the files opens no gate', async (t) => {
  const at = await running()
  const published = listen(t, at.app)
  edit(at, `proof/${at.open}.md`, verifiedNow)
  edit(at, 'case.md', (text) => resolved(dropped(text)))

  async function applyFrozenValues(): Promise<void> {
    t.match(await get(at), { state: 'IMPLEMENTING' })
    t.match(await get(at, `/proof/${at.open}`), { verified: false, verified_at: null })
    t.match((await get(at, '/gate')).items, [{ ...ITEM, satisfied_by: null }])
    t.match(await get(at, '/gate'), { open: false, verified: 1 })
    t.strictSame(await codes(at), [
      'changed_during_run case.md',
      'changed_during_run case.md',
      `changed_during_run proof/${at.open}.md`,
    ])
  }
  await applyFrozenValues()
  const events = await published.newEvents()
  const wrong = events.filter(
    ({ event_type, payload }) => event_type === 'case_state_changed' || payload.verified === true,
  )
  t.strictSame(wrong, [], 'no event tells of it as if it counted')
  t.equal(events.filter(({ event_type }) => event_type === 'problem_found').length, 3)
  await end(at)
  await applyFrozenValues()
  const lines = await named(at)
  t.match(lines.sort(), [
    'checklist: The test passes (benchmark, required) → missing',
    'state: IMPLEMENTING → RESOLVED',
    /^verification: not verified → verified \(benchmark [0-9a-f]{64}\)$/,
  ])
  await at.app.restart()
  await applyFrozenValues()
  t.strictSame((await named(at)).sort(), lines, 'each is named once')
  t.strictSame(baselinesIn(at.app.stateDir), [at.id])

  t.match(await at.app.request('PUT', `/cases/${at.id}/state`, { state: 'RESOLVED' }), {
    status: 422,
  })
  await must(at.app, 'PUT', `/cases/${at.id}/proof/${at.open}/verify`)
  t.match(
    await get(at, '/gate'),
    { open: true, verified: 2 },
    'the item is still asked for, and proved',
  )
  t.match(await get(at), { state: 'IMPLEMENTING' }, 'an open gate does not make the state count')
  const back = await at.app.request('POST', `/cases/${at.id}/proof/checklist`, ITEM)
  t.match(back, { status: 201, json: { ...ITEM, satisfied_by: at.open } })
  t.equal(readFileSync(at.app.file(at.id, 'case.md'), 'utf8').split(LINE).length, 2)
  t.match(await must(at.app, 'PUT', `/cases/${at.id}/state`, { state: 'RESOLVED' }), {
    state: 'RESOLVED',
    problems: [],
  })
  t.strictSame(baselinesIn(at.app.stateDir), [])
})

const changes: {
  what: string
  file: (at: Scene) => string
  change(text: string): string
  path: (at: Scene) => string
  shown: object
  named: RegExp
}[] = [
  {
    what: 'a state that asks for no gate',
    file: () => 'case.md',
    change: (text) => text.replace(/^state: .*$/m, 'state: WONT_FIX'),
    path: () => '',
    shown: { state: 'IMPLEMENTING' },
    named: /^state: IMPLEMENTING → WONT_FIX$/,
  },
  {
    what: 'an item that is not required any more',
    file: () => 'case.md',
    change: (text) => text.replace('benchmark, required', 'benchmark'),
    path: () => '/gate',
    shown: { items: [{ ...ITEM, checked: false }] },
    named: /^checklist: The test passes \(benchmark, required\) → The test passes \(benchmark\)$/,
  },
  {
    what: 'a verified proof with other content that fits its hash',
    file: (at) => `proof/${at.verified}.md`,
    change: (text) =>
      text
        .replace(contentHash('of trace'), contentHash('forged'))
        .replace('\nof trace\n', '\nforged\n'),
    path: (at) => `/proof/${at.verified}`,
    shown: { verified: false, content: 'forged' },
    named: /^verification: verified \(trace .*\) → verified \(trace .*\)$/,
  },
]

t.test('what does not count is let go when it is put back', async (t) => {
  const at = await running()
  const original = new Map(
    ['case.md', `proof/${at.verified}.md`].map((name) => [
      name,
      readFileSync(at.app.file(at.id, name), 'utf8'),
    ]),
  )
  const putBack = (name: string) => edit(at, name, () => original.get(name)!)
  for (const { what, file, change, path, shown } of changes) {
    edit(at, file(at), change)
    t.match(await get(at, path(at)), shown, what)
    t.strictSame(await codes(at), [`changed_during_run ${file(at)}`], what)
    putBack(file(at))
    t.strictSame(await codes(at), [], what)
  }
  const last = [changes[0]!, changes.at(-1)!]
  for (const { file, change } of last) edit(at, file(at), change)
  await end(at)
  t.match(
    (await named(at)).sort(),
    last.map(({ named }) => named),
    'as it is at the end',
  )
  for (const { file, change, path, shown, what } of last) {
    t.match(await get(at, path(at)), shown, what)
    putBack(file(at))
    t.notOk((await codes(at)).some((code) => code.endsWith(file(at))))
    edit(at, file(at), change)
    t.notMatch(await get(at, path(at)), shown, 'what a person writes after the run counts again')
  }
  t.strictSame(await codes(at), [])
})

t.test('what only asks for more, or takes away, counts', async (t) => {
  const at = await running()
  edit(at, 'case.md', (text) =>
    text.replace(LINE, `${LINE}\n- [ ] Seen by two (operator-note, required)`),
  )
  edit(at, `proof/${at.verified}.md`, (text) => text.replace('verified: true', 'verified: false'))
  t.match((await get(at, '/gate')).items, [ITEM, { description: 'Seen by two', required: true }])
  t.match(await get(at, '/gate'), { open: false, verified: 0 })
  t.strictSame(await codes(at), [])
  await end(at)
  t.strictSame(await named(at), [])
  t.strictSame(baselinesIn(at.app.stateDir), [])
})

t.test('requests count while a session executes, and are held to in their turn', async (t) => {
  const at = await running()
  await must(at.app, 'PUT', `/cases/${at.id}/state`, { state: 'BLOCKED' })
  await must(at.app, 'PUT', `/cases/${at.id}/proof/${at.open}/verify`)
  const other = { description: 'Reviewed', type: 'operator-note', required: true }
  await must(at.app, 'POST', `/cases/${at.id}/proof/checklist`, other)
  t.match(await get(at), { state: 'BLOCKED', problems: [] })
  t.match(await get(at, '/gate'), { verified: 2 })
  edit(at, 'case.md', (text) =>
    resolved(text).replace('- [ ] Reviewed (operator-note, required)\n', ''),
  )
  t.match(await get(at), { state: 'BLOCKED' })
  t.match((await get(at, '/gate')).items, [other, ITEM])
  await must(at.app, 'PUT', `/cases/${at.id}`, { title: 'Another title' })
  t.match(
    await get(at),
    { state: 'BLOCKED', title: 'Another title' },
    'another field confirms nothing',
  )
  await end(at)
  await at.app.restart()
  t.match(await get(at), { state: 'BLOCKED' })
})

t.test('a PUT of case.md confirms what it says, also unchanged', async (t) => {
  const at = await running()
  const published = listen(t, at.app)
  edit(at, 'case.md', (text) => dropped(text).replace(/^state: .*$/m, 'state: WATCHLIST'))
  t.match(await get(at), { state: 'IMPLEMENTING', problems: { length: 2 } })
  await at.app.service.runGuard.idle()
  await published.newEvents()
  const file = `/cases/${at.id}/memory/case.md`
  const { text } = await at.app.request('GET', file)
  t.match(await at.app.request('PUT', file, text), { status: 200 })
  t.match(await get(at), { state: 'WATCHLIST', problems: { length: 0 } })
  t.match((await get(at, '/gate')).items, { length: 0 })
  t.match(await published.newWords(), [
    'case_state_changed IMPLEMENTING→WATCHLIST',
    'case_updated',
    'problem_cleared changed_during_run case.md',
    'problem_cleared changed_during_run case.md',
  ])
  t.match(await at.app.request('PUT', file, text.replace('WATCHLIST', 'BLOCKED')), { status: 200 })
  t.match(
    await published.newWords(),
    ['case_state_changed WATCHLIST→BLOCKED'],
    'a new text as well',
  )
  edit(at, 'case.md', (now) => now.replace('BLOCKED', 'OPEN'))
  t.match(await get(at), { state: 'BLOCKED' })
  await end(at)
  t.match(await at.app.request('PUT', file, text.replace('WATCHLIST', 'OPEN')), { status: 200 })
  t.match(await get(at), { state: 'OPEN', problems: { length: 0 } })
})

t.test('any state by request takes the place of one that is held back', async (t) => {
  const at = await running()
  await must(at.app, 'PUT', `/cases/${at.id}/proof/${at.open}/verify`)
  edit(at, 'case.md', resolved)
  await end(at)
  const put = (state: string) => must(at.app, 'PUT', `/cases/${at.id}/state`, { state })
  t.match(await put('RESOLVED'), { state: 'RESOLVED', problems: [] }, 'what the file says')
  await begin(at)
  edit(at, 'case.md', (text) => text.replace('RESOLVED', 'WONT_FIX'))
  t.match(await get(at), { state: 'RESOLVED' })
  await end(at)
  t.match(await put('OPEN'), { state: 'OPEN', problems: [] })
  t.match(readFileSync(at.app.file(at.id, 'case.md'), 'utf8'), 'state: OPEN\n')
})

t.test(
  'the end of a session moves the case, and leaves what was written for the operator',
  async (t) => {
    const at = await running()
    edit(at, 'case.md', resolved)
    await end(at)
    const move = () =>
      at.app.service.store.update(at.id, (folder) => caseMove(folder, 'completed', 'implementing'))
    await move()
    t.match(await get(at), { state: 'VERIFYING' })
    t.match(readFileSync(at.app.file(at.id, 'case.md'), 'utf8'), 'state: RESOLVED\n')
    await move()
    await at.app.restart()
    t.match(await get(at), { state: 'VERIFYING', problems: [{ code: 'changed_during_run' }] })
    edit(at, 'case.md', (text) => text.replace('RESOLVED', 'VERIFYING'))
    t.match(await get(at), { state: 'VERIFYING', problems: { length: 0 } })
  },
)

t.test('other cases are held to as well, and those that come up', async (t) => {
  const at = await running()
  const { id: asked } = await at.app.newCase({ title: 'By request' })
  const proof = {
    id: FORGED_PROOF,
    session_id: null,
    type: 'log',
    created_at: '2026-11-20T09:54:00.000Z',
  }
  const forged = (case_id: string) =>
    newProofText(
      {
        ...PROOF,
        ...proof,
        case_id,
        sha256: contentHash('all well'),
        intact: true,

        verified: true,
        verified_at: proof.created_at,
      },
      'all well',
    )
  const put = async (case_id: string, name: string, text: string) => {
    const path = at.app.file(case_id, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  await put(OTHER, 'case.md', '---\ntitle: By file\nstate: RESOLVED\n---\n')
  await put(OTHER, `proof/${FORGED_PROOF}.md`, forged(OTHER))
  await put(asked, `proof/${FORGED_PROOF}.md`, forged(asked))
  edit({ ...at, id: asked }, 'case.md', resolved)
  await end(at)
  for (const restart of [false, true]) {
    if (restart) await at.app.restart()
    t.match(await must(at.app, 'GET', `/cases/${OTHER}`), {
      state: 'VERIFYING',
      problems: [{ code: 'changed_during_run' }, { code: 'proof_gate' }],
    })
    t.match(await must(at.app, 'GET', `/cases/${asked}`), { state: 'OPEN' })
  }
  t.equal((await named(at)).length, 3)
  const folder = await at.app.service.store.read(at.id)
  const line = folder.sessions[0]!.trail.find(
    ({ event, fields }) => event === 'changed_during_run' && fields.changed_case === OTHER,
  )
  t.match(line, { event: 'changed_during_run', fields: { file: `proof/${FORGED_PROOF}.md` } })
})

t.test('a session that was put there, or changed while nothing remembered it', async (t) => {
  const at = await running()
  const path = at.app.file(at.id, 'sessions', '1.md')
  const text = readFileSync(path, 'utf8')
  const trail = text.slice(text.indexOf('## Audit trail'))
  writeFileSync(
    at.app.file(at.id, 'sessions', '2.md'),
    text.replaceAll(at.run.id, FORGED_SESSION).replace('number: 1', 'number: 2'),
  )
  t.strictSame(await codes(at), ['changed_during_run sessions/2.md'])
  await at.app.close()
  const number = trail.trim().split('\n').length - 1
  const time = '2026-11-21T10:00:00.000Z'
  const line = `${number}. ${time} session_state_changed old_state=plan_ready new_state=complete`
  const forged = `${text.replace('state: plan_ready', 'state: complete')}${line}\n`
  writeFileSync(path, forged)
  await at.app.restart()
  t.match(await must(at.app, 'GET', at.run.path), { state: 'plan_ready' }, 'a forged line is none')
  const memory = (file: string) => `/cases/${at.id}/memory/${file}`
  const { text: bytes } = await at.app.request('GET', memory('2.md'))
  t.match(await at.app.request('PUT', memory('2.md'), bytes), { status: 200 })
  t.match(await at.app.request('PUT', memory('1.md'), forged), { status: 422 })
  t.match(await must(at.app, 'GET', at.run.path), { state: 'plan_ready' })
  t.strictSame(
    (await codes(at)).filter((code) => code.startsWith('changed_during_run')),
    [],
  )
})

t.test('a service that dies meanwhile holds back what differs at its next start', async (t) => {
  const at = await running()
  await at.app.close()
  edit(at, 'case.md', (text) => resolved(dropped(text)))
  edit(at, `proof/${at.open}.md`, verifiedNow)
  await at.app.restart()
  t.match(await get(at), { state: 'IMPLEMENTING', problems: { length: 3 } })
  t.equal((await named(at)).length, 3, 'and names it in the trail')
  const published = listen(t, at.app)
  await at.app.restart()
  t.match(await get(at), { state: 'IMPLEMENTING', problems: { length: 3 } })
  t.equal((await named(at)).length, 3)
  t.strictSame(published.history, [])
})

t.test('of two runs the last one ends it', async (t) => {
  const at = await running()
  edit(at, `proof/${at.open}.md`, verifiedNow)
  await end(at)
  const [second, third] = [await planned(app), await planned(app)]
  const [next, last] = [
    { ...at, run: second },
    { ...at, run: third },
  ]
  await begin(next)
  await begin(last)
  await end(next)
  edit(at, 'case.md', resolved)
  t.match(await get(at), { state: 'IMPLEMENTING' })
  await end(last)
  await end(last)
  t.match(await named(at), [/^verification: /])
  t.strictSame(await named(next), [], 'it was not in the first')
  t.strictSame(await named(last), ['state: IMPLEMENTING → RESOLVED'], 'nor what was held back')
  await must(app, 'PUT', `/cases/${at.id}/state`, { state: 'OPEN' })
  edit(at, 'case.md', (text) => text.replace(/^state: .*$/m, 'state: BLOCKED'))
  t.match(await get(at), { state: 'BLOCKED', problems: { length: 1 } })
})

t.test('a case that is deleted and made again opens no gate', async (t) => {
  const at = await running()
  const text = readFileSync(at.app.file(at.id, 'case.md'), 'utf8')
  rmSync(at.app.file(at.id), { recursive: true })
  await at.app.service.refresher.rescan()
  await at.app.service.refresher.freshenAll()
  t.match(await at.app.request('GET', `/cases/${at.id}`), { status: 404 })
  await mkdir(at.app.file(at.id))
  writeFileSync(at.app.file(at.id, 'case.md'), resolved(dropped(text)))
  await at.app.service.refresher.rescan()
  await at.app.service.refresher.freshenAll()
  t.match(await get(at), { state: 'IMPLEMENTING' })
  t.match((await get(at, '/gate')).items, [ITEM])
})

t.test('a damaged record is said, and nothing else is lost by it', async (t) => {
  const at = await running()
  await at.app.close()
  const put = 'INSERT OR REPLACE INTO baselines VALUES (?, ?)'
  await changeState(at.app.stateDir, put, '', '{"runs":')
  await changeState(at.app.stateDir, put, at.id, '{}')
  await at.app.restart()
  const said = at.app.log.filter((line) => /what counted as a run began .*skipped/.test(line))
  t.equal(said.length, 2)
  t.match(await get(at), { state: 'IMPLEMENTING', problems: { length: 0 } })
})

t.test('a run holds back nothing of a case that rests as it begins', async (t) => {
  const made = await scene()
  const other = await planned(made.app)
  made.app.service.catalog.invalidate(other.case_id) // it is to be put together anew
  await begin(made)
  const problems = async () => (await must(made.app, 'GET', `/cases/${other.case_id}`)).problems
  t.strictSame(await problems(), [])
  await end(made)
  t.strictSame(await problems(), [])
})
