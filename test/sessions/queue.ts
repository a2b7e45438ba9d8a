import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readTrail } from '../../src/markdown/trail.ts'
import { eventsOfLines } from '../../src/model/trail-lines.ts'
import { createJobs, type Job } from '../../src/sessions/jobs.ts'
import { inLongLane } from '../fixtures/full.ts'
import {
  git,
  inLine,
  must,
  planned,
  type Ref,
  reaches,
  reachesAgain,
  step,
} from '../fixtures/session-client.ts'
import { recordOf, until } from '../fixtures/session-record.ts'
import { trusted } from '../fixtures/trust.ts'
import { openTestService } from '../fixtures/workspace.ts'

const mine = (name: string) =>
  `---\nproviders: { mine: { kind: command, plan: [echo, "## Plan\\n\\nDo it"], work: [touch, ${name}] } }\n---\n`

/** A workspace in a repository; what begins with `go` is ignored there. */
const service = await openTestService(t, {
  limits: { recordEnd: 300 },
  files: { '.gitignore': 'go*\nran*\n', 'code.txt': 'one\n', 'casefile.md': mine('ran-mine') },
})
const { root } = service
git(root, 'init', '-q')
git(root, 'add', '.gitignore', 'code.txt')
git(root, 'commit', '-qm', 'begin')

let folders = 0

/** A new working folder, in which one session works until `end` is called. */
async function occupied(t: Test, script = '') {
  const workdir = `folder-${++folders}`
  const folder = join(root, workdir)
  mkdirSync(folder)
  writeFileSync(join(folder, 'file.txt'), 'before\n')
  const runbook = step(`until test -e go; do sleep 0.02; done\n${script}`)
  const first = await planned(service, { runbook, fields: { workdir, title: `First ${workdir}` } })
  const approved = await must(service, 'POST', `${first.path}/approve`, { queue: true })
  t.match(approved, { queue: null }, 'a free folder has no line')
  await reaches(service, first, 'executing')
  const runs = step('touch ran-$CASEFILE_SESSION')
  const plan = (title: string, as = workdir) =>
    planned(service, { runbook: runs, fields: { workdir: as, title } })
  return {
    workdir,
    folder,
    first,
    plan,
    end: () => writeFileSync(join(folder, 'go'), ''),
    /** Another session for the folder, approved and in line. */
    async waiting(title = 'A', as = workdir) {
      const ref = await plan(title, as)
      await must(service, 'POST', `${ref.path}/approve`, { queue: true })
      return ref
    },
    hasRun: ({ id }: Ref) => existsSync(join(folder, `ran-${id}`)),
  }
}

const trailOf = (ref: Ref) =>
  eventsOfLines(readTrail(recordOf(service, ref))!.lines.map(({ line }) => line))

function reasonOf(ref: Ref): string {
  const line = trailOf(ref).findLast(({ event }) => event === 'session_state_changed')
  return String((line!.fields as { reason?: string }).reason)
}

async function historyOf(ref: Ref): Promise<string[]> {
  const entries = await must(service, 'GET', `/cases/${ref.case_id}/history`)
  return entries.map(({ what, text }: { what: string; text: string | null }) =>
    [what, text].filter(Boolean).join(': '),
  )
}

t.test('a plan waits until the folder is free, in the order of the approvals', async (t) => {
  const place = await occupied(t)
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
  t.match(await inLine(service), [{ ...place1, title: 'The second' }])
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
  const abandoned = await place.waiting('abandoned')
  const commented = await place.plan('commented')
  await must(service, 'POST', `${commented.path}/comments`, { text: 'Mind the clock' })
  await must(service, 'POST', `${commented.path}/approve`, { queue: true })
  t.match(await must(service, 'GET', commented.path), { comments: { draft: 0 } })
  const titles = ['broken', 'broken and cancelled', 'closed', 'edited'] as const
  const [broken, both, closed, edited] = [
    await place.waiting(titles[0]),
    await place.waiting(titles[1]),
    await place.waiting(titles[2]),
    await place.waiting(titles[3]),
  ]
  mkdirSync(join(root, `${workdir}-beside`))
  const last = await place.waiting('last', `./${workdir}-beside/../${workdir}`)
  const byHand = await place.waiting('by hand')
  const line = async () =>
    (await inLine(service)).map(
      ({ title, position }: { title: string; position: number }) => `${position} ${title}`,
    )
  const before = ['The second', 'abandoned', 'commented', ...titles, 'last', 'by hand']
  const numbered = (names: readonly string[]) => names.map((name, at) => `${at + 1} ${name}`)
  t.strictSame(await line(), numbered(before))
  const change = (ref: Ref, from: string, to: string) => {
    const file = service.file(ref.case_id, 'sessions', '1.md')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(from, to))
    return () => writeFileSync(file, text)
  }
  t.match(await must(service, 'DELETE', `${commented.path}/queue`), {
    state: 'plan_ready',
    comments: { draft: 1 },
    problems: { length: 0 },
  })
  t.equal(reasonOf(commented), 'Taken out of the line.')
  t.notMatch(recordOf(service, commented), 'plan_edited')
  t.match(await service.request('DELETE', `${commented.path}/queue`), {
    status: 422,
    json: { code: 'wrong_state', detail: 'Session 1 is plan_ready, and not in line.' },
  })
  t.match(await service.request('DELETE', `${first.path}/queue`), {
    status: 422,
    json: { detail: /is executing, and not in line. To stop it, abandon it/ },
  })
  t.match(await must(service, 'POST', `${abandoned.path}/abandon`, { reason: 'No.' }), {
    state: 'abandoned',
  })
  t.equal(reasonOf(abandoned), 'No.')
  change(byHand, 'state: approved', 'state: abandoned')
  await reaches(service, byHand, 'abandoned')
  t.strictSame(await line(), numbered(['The second', ...titles, 'last']), 'those behind move up')
  t.notOk(place.hasRun(ref))

  await must(service, 'PUT', `/cases/${closed.case_id}/state`, { state: 'WONT_FIX' })
  change(edited, 'touch ran', 'touch run')
  git(root, 'add', 'memory')
  git(root, 'commit', '-qm', 'record', '--', 'memory') // which alone changes nothing
  const mend = [broken, both].map((ref) => change(ref, '---\n', '---\n}{: [\n'))
  t.match(await service.request('DELETE', `${both.path}/queue`), {
    status: 409,
    json: { code: 'unreadable_file', detail: /cannot be written, fix it/ },
  })
  // the request does not wait for the end of what it began
  await until(async () => (await line()).length === 5)
  place.end()
  await Promise.all([ref, last].map((each) => reaches(service, each, 'complete')))
  for (const undo of mend) undo()
  for (const each of [broken, both, closed, edited]) await reachesAgain(service, each, 'plan_ready')
  t.equal(reasonOf(both), 'Taken out of the line.')
  t.equal(reasonOf(closed), 'The state of its case is WONT_FIX now.')
  t.equal(reasonOf(edited), 'The plan in its file is not the approved one any more.')
  t.match(recordOf(service, edited), /plan_edited by=hand/)
  t.match(await must(service, 'GET', edited.path), { problems: { length: 0 } })
  const started = [ref, last].map(
    (each) => trailOf(each).find(({ event }) => event === 'session_started')!.time,
  )
  t.ok(started[0]! < started[1]!, 'first come, first served')
  t.ok(place.hasRun(ref) && place.hasRun(last))
  t.notOk([abandoned, commented, byHand, broken, both, closed, edited].some(place.hasRun))
  t.match(await must(service, 'GET', byHand.path), { state: 'abandoned', problems: { length: 0 } })
  const session = await must(service, 'GET', ref.path)
  t.match(session, { queue: null, problems: { length: 0 } })
  t.ok(session.durations.waited_ms >= 0)
  t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'VERIFYING' })
  const events = trailOf(ref).map(({ event }) => event)
  const at = events.indexOf('queued')
  t.strictSame(events.slice(at - 2, at + 3), [
    'plan_approved',
    'session_state_changed',
    'queued',
    'session_state_changed',
    'session_started',
  ])
  t.match(
    (await historyOf(ref)).join('\n'),
    /approved the plan via the API .*\nsession 1: waits in line: after session 1 of “First .*”\nsession 1: began to work after waiting in line\n/,
  )
  t.strictSame(await line(), [])
})

t.test('what brings a plan back', async (t) => {
  await trusted(service)
  const place = await occupied(t)
  const provider = await must(service, 'POST', '/cases', { title: 'P', workdir: place.workdir })
  const wanted = { type: 'implementing', provider: 'mine' }
  const { id } = await must(service, 'POST', `/cases/${provider.id}/sessions`, wanted)
  const untrusted: Ref = { case_id: provider.id, id, path: `/cases/${provider.id}/sessions/${id}` }
  await reaches(service, untrusted, 'plan_ready')
  await must(service, 'POST', `${untrusted.path}/approve`, { queue: true })
  const workdir = await place.waiting()
  writeFileSync(join(root, 'casefile.md'), mine('ran-other'))
  await must(service, 'PUT', `/cases/${workdir.case_id}`, { workdir: null })
  place.end()
  const all = [untrusted, workdir]
  for (const ref of all) await reachesAgain(service, ref, 'plan_ready')
  t.match(reasonOf(untrusted), /mine.*trust/)
  t.equal(reasonOf(workdir), 'The working folder of the case is another one now.')
  t.match(recordOf(service, untrusted), /^plan_sha256:\napproved_by:$/m)
  t.match(await must(service, 'GET', untrusted.path), {
    state: 'plan_ready',
    queue: null,
    signature: null,
    problems: { length: 0 },
  })
  t.match(await must(service, 'GET', `/cases/${untrusted.case_id}`), { state: 'PLANNING' })
  t.match((await historyOf(workdir)).at(-1), /^session 1: left the line: The working/)
  t.notOk(all.some(place.hasRun))
  t.notOk(existsSync(join(place.folder, 'ran-mine')) || existsSync(join(place.folder, 'ran-other')))
})

t.test('what changed in the folder meanwhile is recorded, and the plan starts', async (t) => {
  const place = await occupied(t, 'echo after > file.txt')
  const ref = await place.plan('Closed before')
  await must(service, 'PUT', `/cases/${ref.case_id}/state`, { state: 'WONT_FIX' })
  await must(service, 'POST', `${ref.path}/approve`, { queue: true })
  const head = () => git(root, 'rev-parse', 'HEAD').trim()
  const queued = head()
  writeFileSync(join(root, 'code.txt'), `${place.workdir}\n`)
  git(root, 'commit', '-qm', 'more', '--', 'code.txt')
  place.end()
  await reaches(service, ref, 'complete')
  const base = { commit: head(), queued_commit: queued, uncommitted: 1 }
  t.match(trailOf(ref).find(({ event }) => event === 'base_recorded')?.fields, base)
  t.match(await must(service, 'GET', ref.path), { base })
  t.match(trailOf(ref).find(({ event }) => event === 'queued')?.fields, { head: queued })
  t.ok(place.hasRun(ref))
})

t.test('a stop empties the line, and nothing starts afterwards', inLongLane, async (t) => {
  const place = await occupied(t)
  const ref = await place.waiting()
  await service.restart()
  t.match(await must(service, 'GET', place.first.path), { state: 'failed' })
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready', problems: { length: 0 } })
  t.equal(reasonOf(ref), 'The service was stopped while the session waited in line.')
  t.strictSame(await inLine(service), [])
  t.notOk(place.hasRun(ref))
})

/** Jobs without sessions. */
function jobsWith(
  t: Test,
  parallel: () => number,
  hasEnded = () => false,
  log: string[] | null = null,
) {
  return createJobs({
    running: new Set(),
    hasEnded,
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

t.test('a folder within the other counts as the same, one beside it does not', async (t) => {
  const jobs = jobsWith(t, () => 2)
  await jobs.open(jobOf('first', '/a/b', false))
  const busy: [folder: string, message: RegExp][] = [
    ['/a/b', /^Session 1 of “CASE-FIRST” works in this working folder/],
    ['/a/b/c', /in a folder around this working folder/],
    ['/a', /in a folder within this working folder/],
  ]
  for (const [folder, message] of busy) {
    const job = jobOf(folder, folder, false)
    await t.rejects(jobs.open(job), { code: 'folder_busy', message })
  }
  await jobs.open(jobOf('beside', '/a/b-beside', false))
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
  t.match(jobs.standing('c'), { job: c, position: 1 })
  t.match(jobs.standing('d'), { job: d, position: 2, obstacle: { is: 'limit', limit: 2 } })
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
