import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readTrail } from '../../src/markdown/trail.ts'
import { createJobs, type Job } from '../../src/sessions/jobs.ts'
import {
  finished,
  git,
  must,
  planned,
  type Ref,
  reaches,
  reachesAgain,
  step,
} from '../fixtures/session-client.ts'
import { trusted } from '../fixtures/trust.ts'
import {
  openTestService,
  type TestService,
  type TestServiceOptions,
} from '../fixtures/workspace.ts'

/** A workspace in a repository; what begins with `go` is ignored there. */
async function openRepository(
  t: Test,
  files = {},
  options: TestServiceOptions = {},
): Promise<TestService> {
  const service = await openTestService(t, {
    ...options,
    files: { '.gitignore': 'go*\nran*\n', 'code.txt': 'one\n', ...files },
  })
  git(service.root, 'init', '-q')
  git(service.root, 'add', '.gitignore', 'code.txt')
  git(service.root, 'commit', '-qm', 'begin')
  return service
}

let folders = 0

/** A new working folder, in which one session works until `end` is called. */
async function occupied(service: TestService, script = '') {
  const workdir = `folder-${++folders}`
  const folder = join(service.root, workdir)
  mkdirSync(folder)
  writeFileSync(join(folder, 'file.txt'), 'before\n')
  const runbook = step(`until test -e go; do sleep 0.02; done\n${script}`)
  const first = await planned(service, { runbook, fields: { workdir, title: `First ${workdir}` } })
  await must(service, 'POST', `${first.path}/approve`)
  await reaches(service, first, 'executing')
  return {
    workdir,
    folder,
    first,
    end: () => writeFileSync(join(folder, 'go'), ''),
    /** Another session for the folder, approved and in line. */
    async waiting(fields: object = {}, body: object = {}) {
      const ref = await planned(service, {
        runbook: step('touch ran-$CASEFILE_SESSION'),
        fields: { workdir, ...fields },
      })
      await must(service, 'POST', `${ref.path}/approve`, { queue: true, ...body })
      return ref
    },
    hasRun: ({ id }: Ref) => existsSync(join(folder, `ran-${id}`)),
  }
}

async function sessionFile(service: TestService, ref: Ref): Promise<string> {
  const { number } = await must(service, 'GET', ref.path)
  return service.file(ref.case_id, 'sessions', `${number}.md`)
}

async function trailOf(service: TestService, ref: Ref) {
  const text = readFileSync(await sessionFile(service, ref), 'utf8')
  return readTrail(text)!.lines.map(({ line }) => line)
}

async function reasonOf(service: TestService, ref: Ref): Promise<string> {
  const line = (await trailOf(service, ref)).findLast(
    ({ event }) => event === 'session_state_changed',
  )
  return String((line!.fields as { reason?: string }).reason)
}

async function historyOf(service: TestService, ref: Ref): Promise<string[]> {
  const entries = await must(service, 'GET', `/cases/${ref.case_id}/history`)
  return entries.map(({ what, text }: { what: string; text: string | null }) =>
    [what, text].filter(Boolean).join(': '),
  )
}

t.test('a plan waits until the folder is free and runs if nothing has changed', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const { first, workdir } = place
  const ref = await planned(service, {
    runbook: step('touch ran-$CASEFILE_SESSION'),
    fields: { workdir, title: 'The second' },
  })

  t.match(await service.request('POST', `${ref.path}/approve`), {
    status: 409,
    json: {
      code: 'folder_busy',
      detail: `Session 1 of “First ${workdir}” works in this working folder. Wait until it ends, abandon it, or wait in line behind it (queue: true, casefile approve --queue, "Approve, and wait in line").`,
      running: {
        case_id: first.case_id,
        session_id: first.id,
        number: 1,
        title: `First ${workdir}`,
      },
    },
  })
  const place1 = {
    position: 1,
    waits_for: { session_id: first.id, number: 1, title: `First ${workdir}` },
  }
  t.match(await must(service, 'POST', `${ref.path}/approve`, { queue: true }), {
    state: 'approved',
    queue: place1,
  })
  t.match(await must(service, 'GET', '/queue'), [
    { ...place1, session_id: ref.id, title: 'The second', folder: workdir, isolated: false },
  ])
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'PLANNING' })
  const [row] = await must(service, 'GET', `/triage?q=second`)
  t.match(row.needs, { kind: 'running', text: 'session 1 waits in line' })
  t.match(await service.request('POST', `${ref.path}/approve`, { queue: true }), {
    status: 409,
    json: { code: 'already_active', detail: /waits in line/ },
  })
  t.match(await service.request('PUT', `${ref.path}/plan`, { plan: 'Other.' }), {
    status: 422,
    json: { code: 'wrong_state', detail: /waits in line/ },
  })
  t.match(await service.request('DELETE', `/cases/${ref.case_id}`), { status: 409 })
  t.notOk(place.hasRun(ref))

  place.end()
  await reaches(service, ref, 'complete')
  t.ok(place.hasRun(ref))
  const session = await must(service, 'GET', ref.path)
  t.match(session, { queue: null, problems: { length: 0 } })
  t.ok(session.durations.waited_ms >= 0)
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'VERIFYING' })
  const events = (await trailOf(service, ref)).map(({ event }) => event)
  const at = events.indexOf('queued')
  t.strictSame(events.slice(at - 2, at + 3), [
    'plan_approved',
    'session_state_changed',
    'queued',
    'session_state_changed',
    'session_started',
  ])
  const acts = (await historyOf(service, ref)).join('\n')
  t.match(
    acts,
    /approved by the API .*\nsession 1 waits in line: after session 1 of “First .*”\nsession 1 begins to work after waiting in line\nPLANNING → IMPLEMENTING\n/,
  )
  t.strictSame(await must(service, 'GET', '/queue'), [])

  const free = await planned(service, { runbook: step('true'), fields: { workdir } })
  const events2 = reaches(service, free, 'complete')
  t.match(await must(service, 'POST', `${free.path}/approve`, { queue: true }), { queue: null })
  await events2
  t.notOk((await trailOf(service, free)).some(({ event }) => event === 'queued'))
})

t.test('a plan whose folder changed meanwhile needs approval again', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service, 'echo after > file.txt; echo new > other.txt')
  const ref = await place.waiting({ title: 'Careful' })
  writeFileSync(join(place.folder, 'mine.txt'), 'by hand\n')
  place.end()
  await reachesAgain(service, ref, 'plan_ready')
  t.equal(
    await reasonOf(service, ref),
    `The working folder is not what it was at the approval: file.txt, mine.txt, other.txt changed while session 1 of “First ${place.workdir}” worked.`,
  )
  t.notOk(place.hasRun(ref))
  const text = readFileSync(await sessionFile(service, ref), 'utf8')
  t.match(text, /^plan_sha256:$/m)
  t.match(await must(service, 'GET', ref.path), {
    state: 'plan_ready',
    queue: null,
    signature: null,
    problems: { length: 0 },
  })
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'PLANNING' })
  t.match((await historyOf(service, ref)).at(-1), /^session 1 left the line: The working folder/)
  t.match((await finished(service, ref)).session, { state: 'complete' }, 'approved again')
})

t.test('the comments of an approval that was taken back can be sent again', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const ref = await planned(service, {
    runbook: step('true'),
    fields: { workdir: place.workdir },
  })
  await must(service, 'POST', `${ref.path}/comments`, { text: 'Mind the clock' })
  await must(service, 'POST', `${ref.path}/approve`, { queue: true })
  t.match(await must(service, 'GET', ref.path), { comments: { draft: 0 } })
  t.match(await must(service, 'DELETE', `${ref.path}/queue`), {
    state: 'plan_ready',
    comments: { draft: 1 },
    problems: { length: 0 },
  })
  t.equal(await reasonOf(service, ref), 'Taken out of the line.')
  t.match(await service.request('DELETE', `${ref.path}/queue`), {
    status: 422,
    json: { code: 'wrong_state', detail: 'Session 1 is plan_ready, and not in line.' },
  })
  t.match(await service.request('DELETE', `${place.first.path}/queue`), {
    status: 422,
    json: { detail: /is executing, and not in line. To stop it, abandon it/ },
  })
  place.end()
  await reaches(service, place.first, 'complete')
})

t.test('first come, first served, and those behind move up', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const refs = []
  for (const title of ['one', 'two', 'three', 'four']) refs.push(await place.waiting({ title }))
  const [one, two, three, four] = refs as [Ref, Ref, Ref, Ref]
  const titles = async () =>
    (await must(service, 'GET', '/queue')).map(
      ({ title, position }: { title: string; position: number }) => `${position} ${title}`,
    )
  t.strictSame(await titles(), ['1 one', '2 two', '3 three', '4 four'])
  await must(service, 'DELETE', `${two.path}/queue`)
  t.match(await must(service, 'POST', `${one.path}/abandon`, { reason: 'No.' }), {
    state: 'abandoned',
  })
  t.equal(await reasonOf(service, one), 'No.')
  t.strictSame(await titles(), ['1 three', '2 four'])
  const other = await planned(service, {
    runbook: step('true'),
    fields: { workdir: place.workdir },
  })
  t.match(await service.request('POST', `${other.path}/approve`), { status: 409 })
  place.end()
  await Promise.all([reaches(service, three, 'complete'), reaches(service, four, 'complete')])
  const started = async (ref: Ref) =>
    (await trailOf(service, ref)).find(({ event }) => event === 'session_started')!.time
  t.ok((await started(three)) < (await started(four)))
  t.notOk(place.hasRun(one) || place.hasRun(two))
})

t.test('a folder within the other counts as the same, one beside it does not', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  mkdirSync(join(place.folder, 'inner'))
  mkdirSync(join(service.root, `${place.workdir}-beside`))
  const asked = async (workdir: string | null) => {
    const ref = await planned(service, { runbook: step('true'), fields: { workdir } })
    return service.request('POST', `${ref.path}/approve`)
  }
  t.match(await asked(`${place.workdir}/inner`), {
    status: 409,
    json: { code: 'folder_busy', detail: /works in a folder around this working folder/ },
  })
  t.match(await asked(null), {
    status: 409,
    json: { code: 'folder_busy', detail: /works in a folder within this working folder/ },
  })
  t.match(await asked(`${place.workdir}-beside`), { status: 200 })
  place.end()
  await reaches(service, place.first, 'complete')
})

t.test('what else brings a plan back', async (t) => {
  const service = await openRepository(t)
  type Place = Awaited<ReturnType<typeof occupied>>
  const cases: [name: string, change: (place: Place, ref: Ref) => unknown, reason: RegExp][] = [
    [
      'a commit',
      () => {
        writeFileSync(join(service.root, 'code.txt'), `${Math.random()}\n`)
        git(service.root, 'commit', '-qam', 'more')
      },
      /: its commit is [0-9a-f]{10} now, and was [0-9a-f]{10}\.$/,
    ],
    [
      'another branch',
      () => git(service.root, 'switch', '-qc', `branch-${folders}`),
      /: it is on branch branch-\d+ now, and was on branch .+\.$/,
    ],
    [
      'another working folder',
      (_, ref) => must(service, 'PUT', `/cases/${ref.case_id}`, { workdir: null }),
      /^The working folder of the case is another one now\.$/,
    ],
    [
      'a closed case',
      (_, ref) => must(service, 'PUT', `/cases/${ref.case_id}/state`, { state: 'WONT_FIX' }),
      /^The state of its case is WONT_FIX now\.$/,
    ],
    [
      'a plan that was edited in its file',
      async (_, ref) => {
        const file = await sessionFile(service, ref)
        writeFileSync(file, readFileSync(file, 'utf8').replace('touch ran', 'touch run'))
      },
      /^The plan in its file is not the approved one any more\.$/,
    ],
  ]
  for (const [name, change, reason] of cases) {
    await t.test(name, async (t) => {
      const place = await occupied(service)
      const ref = await place.waiting()
      await change(place, ref)
      place.end()
      await reachesAgain(service, ref, 'plan_ready')
      t.match(await reasonOf(service, ref), reason)
      t.notOk(place.hasRun(ref))
      t.match(await must(service, 'GET', ref.path), { problems: { length: 0 } })
    })
  }
})

t.test('state: abandoned in the file of a session in line', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const ref = await place.waiting()
  const file = await sessionFile(service, ref)
  writeFileSync(file, readFileSync(file, 'utf8').replace('state: approved', 'state: abandoned'))
  await reaches(service, ref, 'abandoned')
  place.end()
  await reaches(service, place.first, 'complete')
  t.match(await must(service, 'GET', ref.path), { state: 'abandoned', problems: { length: 0 } })
  t.notOk(place.hasRun(ref))
})

t.test('a commit of the record alone changes nothing', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const ref = await place.waiting()
  git(service.root, 'add', 'memory')
  git(service.root, 'commit', '-qm', 'record', '--', 'memory')
  place.end()
  await reaches(service, ref, 'complete')
  t.ok(place.hasRun(ref))
})

t.test('a provider that is not trusted any more', async (t) => {
  const mine = (name: string) =>
    `---\nproviders: { mine: { kind: command, plan: [echo, "## Plan\\n\\nDo it"], work: [touch, ${name}] } }\n---\n`
  const service = await openRepository(t, { 'casefile.md': mine('ran-mine') })
  await trusted(service)
  const place = await occupied(service)
  const made = await must(service, 'POST', '/cases', { title: 'A', workdir: place.workdir })
  const body = { type: 'implementing', provider: 'mine' }
  const { id } = await must(service, 'POST', `/cases/${made.id}/sessions`, body)
  const ref = { case_id: made.id, id, path: `/cases/${made.id}/sessions/${id}` }
  await reaches(service, ref, 'plan_ready')
  await must(service, 'POST', `${ref.path}/approve`, { queue: true })
  writeFileSync(join(service.root, 'casefile.md'), mine('ran-other'))
  place.end()
  await reachesAgain(service, ref, 'plan_ready')
  t.match(await reasonOf(service, ref), /mine.*trust/)
  t.notOk(existsSync(join(place.folder, 'ran-mine')) || existsSync(join(place.folder, 'ran-other')))
})

t.test('a session whose file is broken lets the next one go', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const broken = await place.waiting()
  const next = await place.waiting()
  const file = await sessionFile(service, broken)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('---\n', '---\n}{: [\n'))
  place.end()
  await reaches(service, next, 'complete')
  t.notOk(place.hasRun(broken))
  writeFileSync(file, text)
  await reachesAgain(service, broken, 'plan_ready')
  t.notOk(place.hasRun(broken))
})

t.test('a cancel of a session whose file is broken counts once it is repaired', async (t) => {
  const service = await openRepository(t, {}, { limits: { recordEnd: 300 } })
  const place = await occupied(service)
  const ref = await place.waiting()
  const file = await sessionFile(service, ref)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('---\n', '---\n}{: [\n'))
  t.match(await service.request('DELETE', `${ref.path}/queue`), {
    status: 409,
    json: { code: 'unreadable_file', detail: /cannot be written, fix it/ },
  })
  // the request does not wait for the end of what it began
  for (let left = 1; left > 0; ) left = (await must(service, 'GET', '/queue')).length
  place.end()
  await reaches(service, place.first, 'complete')
  writeFileSync(file, text)
  await reachesAgain(service, ref, 'plan_ready')
  t.notOk(place.hasRun(ref))
})

t.test('without git a session cannot wait', async (t) => {
  const service = await openTestService(t)
  const place = await occupied(service)
  const ref = await planned(service, {
    runbook: step('true'),
    fields: { workdir: place.workdir },
  })
  t.match(await service.request('POST', `${ref.path}/approve`, { queue: true }), {
    status: 409,
    json: { code: 'folder_busy', detail: /only in a git repository/ },
  })
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready', queue: null })
  place.end()
  await reaches(service, place.first, 'complete')
})

t.test('a cancel at the moment of the start does one of the two', async (t) => {
  const service = await openRepository(t)
  const seen = new Set<string>()
  for (let round = 0; round < 6; round++) {
    const place = await occupied(service)
    const ref = await place.waiting()
    place.end()
    await reaches(service, place.first, 'complete')
    await new Promise((resolve) => setTimeout(resolve, round * 30))
    const { status } = await service.request('DELETE', `${ref.path}/queue`)
    if (status !== 200) await reaches(service, ref, 'complete')
    const { state } = await must(service, 'GET', ref.path)
    t.equal(state, status === 200 ? 'plan_ready' : 'complete')
    t.equal(place.hasRun(ref), status !== 200)
    seen.add(state)
  }
  t.comment(`seen: ${[...seen].join()}`)
})

t.test('a stop empties the line, and nothing starts afterwards', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const ref = await place.waiting()
  await service.restart()
  t.match(await must(service, 'GET', place.first.path), { state: 'failed' })
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready', problems: { length: 0 } })
  t.equal(await reasonOf(service, ref), 'The service was stopped while the session waited in line.')
  t.strictSame(await must(service, 'GET', '/queue'), [])
  t.match((await finished(service, ref)).session, { state: 'complete' }, 'the operator says go on')
})

t.test('isolated sessions wait for a free place among `parallel`', async (t) => {
  let parallel = 2
  const jobs = createJobs({
    running: new Set(),
    isOver: () => false,
    parallel: async () => parallel,
    titleOf: (id) => id.toUpperCase(),
    onChange: () => {},
    onFailure: () => Promise.resolve(),
    log: (line) => t.fail(line),
  })
  const open = (name: string, queue = false) =>
    jobs.open(
      {
        session_id: name,
        case_id: `case-${name}`,
        number: 1,
        runId: name,
        kind: 'work',
        folder: `/worktrees/${name}`,
        isolated: true,
      },
      { queue, canWait: true },
    )
  const [a, b] = [await open('a'), await open('b')]
  await t.rejects(open('c'), {
    code: 'too_many_sessions',
    message:
      /^Session 1 of “CASE-A”, session 1 of “CASE-B” work already, and 2 at the same time is the limit/,
  })
  const c = await open('c', true)
  const d = await open('d', true)
  const started: string[] = []
  const note = (job: Job) => jobs.turn(job).then(() => void started.push(job.session_id))
  const turns = [c, d].map(note)
  t.match(jobs.line(), [
    { job: c, position: 1 },
    { job: d, position: 2, obstacle: { is: 'limit', limit: 2 } },
  ])
  jobs.close(b)
  await turns[0]
  t.strictSame(started, ['c'])
  parallel = 3
  jobs.close(a)
  await turns[1]
  t.strictSame(started, ['c', 'd'])
  t.equal(d.folder, '/worktrees/d')
})
