import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readTrail } from '../../src/markdown/trail.ts'
import { takePrint } from '../../src/sessions/folder-print.ts'
import { createJobs, type Job } from '../../src/sessions/jobs.ts'
import { newFolder, repository } from '../fixtures/git-repository.ts'
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
import { recordOf, until } from '../fixtures/session-record.ts'
import { trusted } from '../fixtures/trust.ts'
import {
  openTestService,
  type TestService,
  type TestServiceOptions,
} from '../fixtures/workspace.ts'

const mine = (name: string) =>
  `---\nproviders: { mine: { kind: command, plan: [echo, "## Plan\\n\\nDo it"], work: [touch, ${name}] } }\n---\n`

/** A workspace in a repository; what begins with `go` is ignored there. */
async function openRepository(
  t: Test,
  { settings, ...options }: TestServiceOptions & { settings?: string } = {},
): Promise<TestService> {
  const service = await openTestService(t, {
    ...options,
    files: {
      '.gitignore': 'go*\nran*\n',
      'code.txt': 'one\n',
      ...(settings ? { 'casefile.md': settings } : {}),
    },
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
  const plan = (title: string) =>
    planned(service, { runbook: step('touch ran-$CASEFILE_SESSION'), fields: { workdir, title } })
  return {
    workdir,
    folder,
    first,
    plan,
    end: () => writeFileSync(join(folder, 'go'), ''),
    /** Another session for the folder, approved and in line. */
    async waiting(title = 'A') {
      const ref = await plan(title)
      await must(service, 'POST', `${ref.path}/approve`, { queue: true })
      return ref
    },
    hasRun: ({ id }: Ref) => existsSync(join(folder, `ran-${id}`)),
  }
}

const trailOf = (service: TestService, ref: Ref) =>
  readTrail(recordOf(service, ref))!.lines.map(({ line }) => line)

function reasonOf(service: TestService, ref: Ref): string {
  const line = trailOf(service, ref).findLast(({ event }) => event === 'session_state_changed')
  return String((line!.fields as { reason?: string }).reason)
}

async function historyOf(service: TestService, ref: Ref): Promise<string[]> {
  const entries = await must(service, 'GET', `/cases/${ref.case_id}/history`)
  return entries.map(({ what, text }: { what: string; text: string | null }) =>
    [what, text].filter(Boolean).join(': '),
  )
}

t.test('a plan waits until the folder is free, in the order of the approvals', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const { first, workdir } = place
  const ref = await place.plan('The second')
  const title = `First ${workdir}`

  t.match(await service.request('POST', `${ref.path}/approve`), {
    status: 409,
    json: {
      code: 'folder_busy',
      detail: `Session 1 of “${title}” works in this working folder. Wait until it ends, abandon it, or wait in line behind it (queue: true, casefile approve --queue, "Approve, and wait in line").`,
      running: { case_id: first.case_id, session_id: first.id, number: 1, title },
    },
  })
  const place1 = { position: 1, waits_for: { session_id: first.id, number: 1, title } }
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

  // those behind it
  const [cancelled, abandoned] = [
    await place.waiting('cancelled'),
    await place.waiting('abandoned'),
  ]
  const commented = await place.plan('commented')
  await must(service, 'POST', `${commented.path}/comments`, { text: 'Mind the clock' })
  await must(service, 'POST', `${commented.path}/approve`, { queue: true })
  t.match(await must(service, 'GET', commented.path), { comments: { draft: 0 } })
  const last = await place.waiting('last')
  const byHand = await place.waiting('by hand')
  const line = async () =>
    (await must(service, 'GET', '/queue')).map(
      ({ title, position }: { title: string; position: number }) => `${position} ${title}`,
    )
  const before = [
    '1 The second',
    '2 cancelled',
    '3 abandoned',
    '4 commented',
    '5 last',
    '6 by hand',
  ]
  t.strictSame(await line(), before)
  t.match(await must(service, 'DELETE', `${cancelled.path}/queue`), { state: 'plan_ready' })
  t.equal(reasonOf(service, cancelled), 'Taken out of the line.')
  t.match(await service.request('DELETE', `${cancelled.path}/queue`), {
    status: 422,
    json: { code: 'wrong_state', detail: 'Session 1 is plan_ready, and not in line.' },
  })
  t.match(await service.request('DELETE', `${first.path}/queue`), {
    status: 422,
    json: { detail: /is executing, and not in line. To stop it, abandon it/ },
  })
  t.match(await must(service, 'DELETE', `${commented.path}/queue`), {
    state: 'plan_ready',
    comments: { draft: 1 },
    problems: { length: 0 },
  })
  t.match(await must(service, 'POST', `${abandoned.path}/abandon`, { reason: 'No.' }), {
    state: 'abandoned',
  })
  t.equal(reasonOf(service, abandoned), 'No.')
  const file = service.file(byHand.case_id, 'sessions', '1.md')
  writeFileSync(file, readFileSync(file, 'utf8').replace('state: approved', 'state: abandoned'))
  await reaches(service, byHand, 'abandoned')
  t.strictSame(await line(), ['1 The second', '2 last'], 'those behind move up')
  t.notOk(place.hasRun(ref))

  place.end()
  await Promise.all([ref, last].map((each) => reaches(service, each, 'complete')))
  const started = [ref, last].map(
    (each) => trailOf(service, each).find(({ event }) => event === 'session_started')!.time,
  )
  t.ok(started[0]! < started[1]!, 'first come, first served')
  t.ok(place.hasRun(ref) && place.hasRun(last))
  t.notOk([cancelled, abandoned, commented, byHand].some(place.hasRun))
  t.match(await must(service, 'GET', byHand.path), { state: 'abandoned', problems: { length: 0 } })
  const session = await must(service, 'GET', ref.path)
  t.match(session, { queue: null, problems: { length: 0 } })
  t.ok(session.durations.waited_ms >= 0)
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'VERIFYING' })
  const events = trailOf(service, ref).map(({ event }) => event)
  const at = events.indexOf('queued')
  t.strictSame(events.slice(at - 2, at + 3), [
    'plan_approved',
    'session_state_changed',
    'queued',
    'session_state_changed',
    'session_started',
  ])
  t.match(
    (await historyOf(service, ref)).join('\n'),
    /approved by the API .*\nsession 1 waits in line: after session 1 of “First .*”\nsession 1 begins to work after waiting in line\nPLANNING → IMPLEMENTING\n/,
  )
  t.strictSame(await line(), [])

  const events2 = reaches(service, commented, 'complete')
  const free = await must(service, 'POST', `${commented.path}/approve`, { queue: true })
  t.match(free, { queue: null }, 'a free folder has no line')
  await events2
  t.equal(trailOf(service, commented).filter(({ event }) => event === 'queued').length, 1)
})

t.test('a folder within the other counts as the same, one beside it does not', async (t) => {
  const service = await openRepository(t, { limits: { recordEnd: 300 } })
  const place = await occupied(service)
  mkdirSync(join(place.folder, 'inner'))
  mkdirSync(join(service.root, `${place.workdir}-beside`))
  const asked = async (workdir: string | null) => {
    const ref = await planned(service, { runbook: step('true'), fields: { workdir } })
    return service.request('POST', `${ref.path}/approve`)
  }
  const busy = (detail: RegExp) => ({ status: 409, json: { code: 'folder_busy', detail } })
  t.match(await asked(`${place.workdir}/inner`), busy(/in a folder around this working folder/))
  t.match(await asked(null), busy(/in a folder within this working folder/))
  t.match(await asked(`./${place.workdir}-beside/../${place.workdir}`), busy(/in this working fo/))
  t.match(await asked(`${place.workdir}-beside`), { status: 200 })

  // a broken file, while it waits and when it is cancelled
  const [broken, cancelled] = [await place.waiting(), await place.waiting()]
  const next = await place.waiting()
  const texts = [broken, cancelled].map((ref) => {
    const file = service.file(ref.case_id, 'sessions', '1.md')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('---\n', '---\n}{: [\n'))
    return { file, text }
  })
  t.match(await service.request('DELETE', `${cancelled.path}/queue`), {
    status: 409,
    json: { code: 'unreadable_file', detail: /cannot be written, fix it/ },
  })
  // the request does not wait for the end of what it began
  await until(async () => (await must(service, 'GET', '/queue')).length === 2)
  place.end()
  await reaches(service, next, 'complete')
  t.ok(place.hasRun(next), 'a session whose file is broken lets the next one go')
  for (const { file, text } of texts) writeFileSync(file, text)
  for (const ref of [broken, cancelled]) await reachesAgain(service, ref, 'plan_ready')
  t.equal(reasonOf(service, cancelled), 'Taken out of the line.')
  t.notOk(place.hasRun(broken) || place.hasRun(cancelled))
})

t.test('what brings a plan back', async (t) => {
  const service = await openRepository(t, { settings: mine('ran-mine') })
  await trusted(service)
  const { root } = service
  const place = await occupied(service, 'echo after > file.txt; echo new > other.txt')
  const provider = await must(service, 'POST', '/cases', { title: 'P', workdir: place.workdir })
  const wanted = { type: 'implementing', provider: 'mine' }
  const { id } = await must(service, 'POST', `/cases/${provider.id}/sessions`, wanted)
  const untrusted: Ref = { case_id: provider.id, id, path: `/cases/${provider.id}/sessions/${id}` }
  await reaches(service, untrusted, 'plan_ready')
  await must(service, 'POST', `${untrusted.path}/approve`, { queue: true })
  const waiting = async (title: string) => [title, await place.waiting(title)] as const
  const refs = Object.fromEntries([
    await waiting('files'),
    await waiting('workdir'),
    await waiting('closed'),
    await waiting('edited'),
  ])
  writeFileSync(join(place.folder, 'mine.txt'), 'by hand\n')
  writeFileSync(join(root, 'casefile.md'), mine('ran-other'))
  await must(service, 'PUT', `/cases/${refs.workdir!.case_id}`, { workdir: null })
  await must(service, 'PUT', `/cases/${refs.closed!.case_id}/state`, { state: 'WONT_FIX' })
  place.end()
  const all = [untrusted, ...Object.values(refs)]
  for (const ref of all) await reachesAgain(service, ref, 'plan_ready')
  t.equal(
    reasonOf(service, refs.files!),
    `The working folder is not what it was at the approval: file.txt, mine.txt, other.txt changed while session 1 of “First ${place.workdir}” worked.`,
  )
  t.match(reasonOf(service, untrusted), /mine.*trust/)
  t.equal(reasonOf(service, refs.workdir!), 'The working folder of the case is another one now.')
  t.match(recordOf(service, refs.files!), /^plan_sha256:$/m)
  t.match(await must(service, 'GET', refs.files!.path), {
    state: 'plan_ready',
    queue: null,
    signature: null,
    problems: { length: 0 },
  })
  t.match(await must(service, 'GET', `/cases/${refs.files!.case_id}`), { state: 'PLANNING' })
  t.match((await historyOf(service, refs.files!)).at(-1), /^session 1 left the line: The working/)

  // now what changes is no file of the folder
  git(root, 'add', 'memory')
  const second = await occupied(service)
  const more = Object.fromEntries(
    await Promise.all(
      ['closed', 'edited', 'runs'].map(async (name) => [name, await second.waiting(name)] as const),
    ),
  )
  await must(service, 'PUT', `/cases/${more.closed!.case_id}/state`, { state: 'WONT_FIX' })
  const file = service.file(more.edited!.case_id, 'sessions', '1.md')
  writeFileSync(file, readFileSync(file, 'utf8').replace('touch ran', 'touch run'))
  git(root, 'commit', '-qm', 'record', '--', 'memory')
  second.end()
  for (const ref of [more.closed!, more.edited!]) await reachesAgain(service, ref, 'plan_ready')
  t.equal(reasonOf(service, more.closed!), 'The state of its case is WONT_FIX now.')
  const edited = 'The plan in its file is not the approved one any more.'
  t.equal(reasonOf(service, more.edited!), edited)
  t.match(await must(service, 'GET', more.edited!.path), { problems: { length: 0 } })
  await reaches(service, more.runs!, 'complete')
  t.ok(second.hasRun(more.runs!), 'a commit of the record alone changes nothing')

  t.notOk([...all, ...Object.values(more).slice(0, 2)].some(second.hasRun))
  t.notOk(existsSync(join(place.folder, 'ran-mine')) || existsSync(join(place.folder, 'ran-other')))
})

t.test('a stop empties the line, and nothing starts afterwards', async (t) => {
  const service = await openRepository(t)
  const place = await occupied(service)
  const ref = await place.waiting()
  await service.restart()
  t.match(await must(service, 'GET', place.first.path), { state: 'failed' })
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready', problems: { length: 0 } })
  t.equal(reasonOf(service, ref), 'The service was stopped while the session waited in line.')
  t.strictSame(await must(service, 'GET', '/queue'), [])
  t.notOk(place.hasRun(ref))
  const again = await occupied(service)
  const waits = await again.waiting()
  writeFileSync(join(service.root, 'code.txt'), 'two\n')
  git(service.root, 'commit', '-qam', 'more')
  again.end()
  await reachesAgain(service, waits, 'plan_ready')
  t.match(
    reasonOf(service, waits),
    /approval: its commit is [0-9a-f]{10} now, and was [0-9a-f]{10}\.$/,
  )
  t.match((await finished(service, waits)).session, { state: 'complete' }, 'approved again')
})

t.test('what counts as another state of a folder', async (t) => {
  const root = repository(t, { a: 'one\n', 'memory/x': '1\n', sub: 's' })
  const print = async (isHeadOnly = false, folder = root) => {
    const taken = await takePrint(folder, {
      isHeadOnly,
      scratch: newFolder(t),
      exclude: [join(root, 'memory')],
      signal: new AbortController().signal,
    })
    if ('reason' in taken) throw new Error(taken.reason)
    t.teardown(taken.close)
    return taken
  }
  const [before, isolated] = [await print(), await print(true)]
  writeFileSync(join(root, 'memory/x'), '2\n')
  git(root, 'commit', '-qam', 'record')
  t.strictSame([await before.changes(), await isolated.changes()], [null, null], 'the record')
  writeFileSync(join(root, 'a'), 'two\n')
  writeFileSync(join(root, 'new'), '')
  t.match(await before.changes(), { head: [], files: ['a', 'new'] })
  t.equal(await isolated.changes(), null, 'only a commit counts for it')
  git(root, 'switch', '-qc', 'other')
  const head = ['it is on branch other now, and was on branch main']
  t.match(await isolated.changes(), { head, files: [] })
  git(root, 'switch', '-q', '--detach')
  t.match((await before.changes())?.head, ['it is on no branch now, and was on branch main'])
  git(root, 'switch', '-q', 'main')
  git(root, 'commit', '-qam', 'code')
  t.match((await isolated.changes())?.head, [
    /^its commit is [0-9a-f]{10} now, and was [0-9a-f]{10}$/,
  ])
  await t.rejects(print(false, newFolder(t)), /git repository/)
})

/** Jobs without sessions. */
function jobsWith(
  t: Test,
  parallel: () => number,
  isOver = () => false,
  log: string[] | null = null,
) {
  return createJobs({
    running: new Set(),
    isOver,
    parallel: async () => parallel(),
    titleOf: (id) => id.toUpperCase(),
    onChange: () => {},
    onFailure: () => (log ? Promise.reject(new Error('again')) : Promise.resolve()),
    log: (line) => (log ? log.push(line) : t.fail(line)),
  })
}

const jobOf = (name: string, folder = `/worktrees/${name}`, isolated = true) => ({
  session_id: name,
  case_id: `case-${name}`,
  number: 1,
  runId: name,
  kind: 'work' as const,
  folder,
  isolated,
})

t.test('isolated sessions wait for a free place among `parallel`', async (t) => {
  let parallel = 2
  const jobs = jobsWith(t, () => parallel)
  const open = (name: string, queue = false) => jobs.open(jobOf(name), { queue, canWait: true })
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

t.test('once the service stops no job opens, nor one that waited', async (t) => {
  const jobs = jobsWith(
    t,
    () => 2,
    () => true,
  )
  jobs.run(await jobs.open(jobOf('first', '/f', false)), () => Promise.resolve())
  const waiting = jobs.open(jobOf('second', '/f', false))
  const stopped = jobs.endAll('stop')
  await t.rejects(waiting, { code: 'stopping' }, 'one that waited')
  await stopped
  await t.rejects(jobs.open(jobOf('third', '/f', false)), { code: 'stopping' })
  t.same(jobs.active(), [])
})

t.test('a job whose failure cannot be handled closes all the same, and is logged', async (t) => {
  const log: string[] = []
  const jobs = jobsWith(
    t,
    () => 2,
    () => false,
    log,
  )
  const job = await jobs.open({ ...jobOf('s'), kind: 'plan', folder: null, isolated: false })
  jobs.run(job, () => Promise.reject(new Error('first')))
  await jobs.end('s', 'stop')
  t.equal(jobs.find('s'), undefined)
  t.match(log, [/session 1 of case case-s .*again/])
})
