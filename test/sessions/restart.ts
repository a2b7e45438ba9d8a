import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readTrail } from '../../src/markdown/trail.ts'
import { leftovers, processesOf, runBuilt, startBuilt, started } from '../fixtures/built-service.ts'
import { inLongLane, isFull, isLong } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import {
  type Client,
  clientOf,
  envelope,
  git,
  must,
  newSession,
  planned,
  type Ref,
  reaches,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { orphanIn, SHED } from '../fixtures/shed-process.ts'
import { changeState, PUT_RUN, runsIn } from '../fixtures/state-rows.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

function folders(t: Test) {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: {}, state: {} })
  return { root: join(dir, 'root'), stateDir: join(dir, 'state') }
}

const KILLS = isFull ? 100 : 10

/** What has to hold of every session after a restart: ended, whole, sealed, nothing left over. */
async function mustBeWhole(t: Test, service: Client & { root: string }, ref: Ref): Promise<void> {
  const session = await must(service, 'GET', ref.path)
  t.ok(['failed', 'complete', 'plan_ready'].includes(session.state), session.state)
  t.strictSame(session.problems, [])
  const file = join(service.root, 'memory/cases', ref.case_id, 'sessions', `${session.number}.md`)
  const lines = readTrail(readFileSync(file, 'utf8'))?.lines.map(({ line }) => line) ?? []
  t.strictSame(
    lines.map(({ number }) => number),
    lines.map((_, index) => index + 1),
    'trail numbers without gap',
  )
  t.equal(lines.at(-1)?.event === 'session_sealed', session.state === 'failed')
  t.strictSame(processesOf(ref.id), [], 'no process is left')
  t.strictSame(await leftovers(service.root), [], 'no temporary file is left')
}

t.test('kill -9 while it executes and others wait in line', linuxOnly, async (t) => {
  const at = folders(t)
  writeFileSync(join(at.root, '.gitignore'), 'ran*\n')
  git(at.root, 'init', '-q')
  git(at.root, 'add', '-A')
  git(at.root, 'commit', '-qm', 'begin')
  const service = await startBuilt(t, at)
  const script =
    "setsid sh -c \"trap '' TERM; sleep 60; sleep 60\" &\ntrap '' TERM\necho begun\nwhile :; do sleep 0.1; done"
  const before = 'echo left > left.txt; echo 1..2; echo not ok 1 - old; sleep 60'
  const ref = await planned(service, {
    runbook:
      step(`mkfifo said; ${SHED}`, 'sh run id=a') +
      step(script, 'sh run id=b') +
      step('touch ran-never', 'sh run id=never'),
  })
  const waiting: Ref[] = []
  for (const n of [1, 2]) waiting.push(await planned(service, { runbook: step(`touch ran-${n}`) }))
  const tests = await planned(service, {
    runbook: step(before, 'sh run id=test proof=tap baseline') + step('touch ran-work'),
    fields: { isolation: 'worktree' },
  })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'begun')
  const isolated = await stream(service, tests)
  await must(service, 'POST', `${tests.path}/approve`)
  await says(isolated, 'not ok 1 - old')
  for (const each of waiting) await must(service, 'POST', `${each.path}/approve`, { queue: true })
  t.equal((await must(service, 'GET', '/queue')).length, 2)
  t.ok(processesOf(ref.id).length >= 2)
  await service.stop('SIGKILL')
  await service.restart()

  const session = await must(service, 'GET', ref.path)
  t.match(session, {
    state: 'failed',
    output:
      /orphan=\d+\.\n\[exit 0[\s\S]*begun\n\[not finished\][\s\S]*service died while the session was executing/,
  })
  t.match(session.candidates, [
    { artifact: '1-a.log' },
    { artifact: '1-b.log', note: 'not finished' },
  ])
  await mustBeWhole(t, service, ref)
  const orphan = orphanIn(session.output)
  t.teardown(() => orphan.end())
  const file = join(service.root, 'memory/cases', ref.case_id, 'sessions/1.md')
  const hasMounts = readFileSync(file, 'utf8').includes('guard=mount')
  t.equal(orphan.isAlive(), !hasMounts, 'one that has shed its run id is found by its mounts')
  const last = Number(events.received.findLast(({ id }) => id)?.id)
  const again = await stream(service, ref, { 'last-event-id': String(last) })
  await again.closed
  t.match(again.received.map(envelope).slice(-3), [
    { event_type: 'agent_completed', payload: { mode: 'work', state: 'failed' } },
    {
      event_type: 'session_state_changed',
      payload: { old_state: 'executing', new_state: 'failed' },
    },
    { event_type: 'session_sealed' },
  ])

  t.match(await must(service, 'GET', tests.path), {
    state: 'failed',
    output: /step test-before\n1\.\.2\nnot ok 1 - old\n\[not finished\]/,
    tests: null,
    tests_before: null,
    candidates: [],
    worktree: { state: 'kept', ahead: 1, is_running: false },
  })
  await mustBeWhole(t, service, tests)

  // those in line wait for approval again, and never start
  const later = await planned(service, {
    runbook: step('echo evil > .envrc; echo begun; sleep 60'),
  })
  const laterEvents = await stream(service, later)
  await must(service, 'POST', `${later.path}/approve`)
  await says(laterEvents, 'begun')
  await service.stop('SIGKILL')
  writeFileSync(join(service.root, '.git/commondir'), '../.g\n')
  await service.restart()
  await reaches(service, later, 'failed')
  t.match(await must(service, 'GET', later.path), {
    state: 'failed',
    failure:
      /service died.*: it wrote \.git\/commondir \(now artifacts\/1-commondir\.txt\), by which/,
    runs_later: [{ file: '.envrc', change: 'new' }],
  })
  t.equal(git(service.root, 'rev-parse', '--git-common-dir').trim(), '.git')
  t.strictSame(runsIn(service.stateDir), [])
  for (const each of waiting) {
    await mustBeWhole(t, service, each)
    t.match(await must(service, 'GET', each.path), { state: 'plan_ready', queue: null })
    const file = join(service.root, 'memory/cases', each.case_id, 'sessions/1.md')
    t.match(
      readFileSync(file, 'utf8'),
      /old_state=approved new_state=plan_ready reason="The service died while the session was waiting in line\."\n$/,
    )
  }
  t.strictSame(await must(service, 'GET', '/queue'), [])
  t.strictSame(
    readdirSync(service.root).filter((name) => name.startsWith('ran')),
    [],
  )
  const next = await newSession(service, ref.case_id)
  t.match(await must(service, 'GET', next.path), { number: 2 })
  await reaches(service, next, 'plan_ready')
})

t.test('a start goes on whatever the last run left', linuxOnly, async (t) => {
  const service = await startBuilt(t, { ...folders(t), args: ['--no-mount'] })
  const script =
    'f=memory/cases/$CASEFILE_CASE/artifacts/1-own.log; rm "$f"; ln -s /etc/hostname "$f"; sleep 60'
  const ref = await planned(service, {
    runbook: step('echo first', 'sh run id=a') + step(script, 'sh run id=own'),
  })
  const link = join(service.root, 'memory/cases', ref.case_id, 'artifacts/1-own.log')
  await must(service, 'POST', `${ref.path}/approve`)
  while (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) await delay(20)
  await service.stop('SIGKILL')
  const file = join(service.root, 'memory/cases', ref.case_id, 'sessions/1.md')
  writeFileSync(file, readFileSync(file, 'utf8').replace('echo first', 'echo other'))
  const strange = ['{}', '[', '{"session_id":"../x","process":{"pid":-1}}']
  for (const [index, text] of strange.entries()) {
    await changeState(service.stateDir, PUT_RUN, strangeId(index), text)
  }
  await service.restart()
  const session = await must(service, 'GET', ref.path)
  t.match(session, { state: 'failed', candidates: [{ artifact: '1-a.log' }] })
  t.match(session.output, /first\n[\s\S]*artifacts\/1-own\.log could not be read: ELOOP/)
  t.match(session.output, /The plan in this file is not the one that was approved and executed\.$/m)
  await mustBeWhole(t, service, ref)
  t.equal(runsIn(service.stateDir).length, 3, 'what it could not read stays')
})

const strangeId = (n: number) => `00000000-0000-4000-8000-00000000000${n}`

t.test('kill -9 at any moment', { ...linuxOnly, ...inLongLane }, async (t) => {
  const service = await startBuilt(t, folders(t))
  const seen = new Set<string>()
  const seed = Number(process.env.CASEFILE_TEST_SEED)
  t.comment(`CASEFILE_TEST_SEED=${seed}`)
  const random = randomFrom(seed)
  for (let round = 0; round < KILLS; round++) {
    const made = await must(service, 'POST', '/cases', { title: `Round ${round}` })
    const runbook = [1, 2, 3]
      .map((n) => step(`echo ${n}; setsid sleep 30 & echo x > file${n}; sleep 0.03`))
      .join('')
    await must(service, 'PUT', `/cases/${made.id}/memory/runbook.md`, runbook)
    const after = (round % 20) * 22 * (0.7 + 0.6 * random())
    const killed = delay(after).then(() => service.stop('SIGKILL'))
    await drive(service, made.id)
    await killed
    await service.restart()
    for (const { id, state } of await must(service, 'GET', `/cases/${made.id}/sessions`)) {
      seen.add(state)
      await mustBeWhole(t, service, {
        case_id: made.id,
        id,
        path: `/cases/${made.id}/sessions/${id}`,
      })
    }
    const next = await must(service, 'POST', `/cases/${made.id}/sessions`, { type: 'planning' })
    t.ok(next.number <= 2)
  }
  t.comment(`the killed sessions were found ${[...seen].join(', ')}`)
})

/** As far as it comes: the connection breaks when the service is killed. */
async function drive(client: Client, caseId: string): Promise<void> {
  try {
    const ref = await newSession(client, caseId)
    await reaches(client, ref, 'plan_ready')
    await must(client, 'POST', `${ref.path}/approve`)
    await (await stream(client, ref)).closed
  } catch (error) {
    const broken = /ConnectionLost|closed after|ECONN|socket hang up|terminated/.test(String(error))
    if (!broken) throw error
  }
}

t.test('a clean stop', linuxOnly, async (t) => {
  const service = await startBuilt(t, folders(t))
  for (const signal of isLong ? (['SIGTERM', 'SIGINT'] as const) : (['SIGTERM'] as const)) {
    await t.test(signal, async (t) => {
      const ref = await planned(service, { runbook: step('echo begun; sleep 60') })
      const idle = await stream(service, await planned(service))
      const events = await stream(service, ref)
      await must(service, 'POST', `${ref.path}/approve`)
      await says(events, 'begun')
      const writes = Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          service.request('PUT', `/cases/${ref.case_id}/memory/n${index}.md`, `note ${index}`),
        ),
      )
      const stopped = service.stop(signal)
      const answers = await writes
      const { code, signal: by, stdout, stderr } = await stopped
      t.strictSame([code, by, stderr], [0, null, ''])
      const [first, workspace, stop, waiting, ...others] = stdout.trimEnd().split('\n')
      t.match(first, /^Casefile is listening on http:\/\/127\.0\.0\.1:\d+$/)
      t.equal(workspace, `Workspace: ${service.root}`)
      t.equal(stop, 'Press Ctrl-C to stop.')
      t.match(waiting, /^(No case needs|\d+ cases need) you\.$/)
      t.strictSame(others, [])
      t.equal(await events.closed, 'ended')
      t.equal(await idle.closed, 'ended')
      for (const [index, { status }] of answers.entries()) {
        const file = join(service.root, 'memory/cases', ref.case_id, `n${index}.md`)
        t.equal(existsSync(file), status === 201, `${status}`)
      }
      t.strictSame(await leftovers(service.root), [])
      t.strictSame(processesOf(ref.id), [])
      await service.restart()
      const session = await must(service, 'GET', ref.path)
      t.match(session, { state: 'failed', output: /begun[\s\S]*service was stopped/ })
      await mustBeWhole(t, service, ref)
    })
  }
})

t.test('the command line', async (t) => {
  const { root, stateDir } = folders(t)
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const port = String((taken.address() as { port: number }).port)
  const state = ['--state-dir', stateDir]
  const wrong: [name: string, args: string[], stderr: RegExp, code?: number][] = [
    [
      'a port in use',
      ['serve', '--root', root, ...state, '--port', port],
      new RegExp(`^casefile: Port ${port} of 127\\.0\\.0\\.1 is in use\\..*--port`),
    ],
    ['a port that is none', ['serve', '--port', '65536'], /Expected a number from 0 to 65535/, 2],
    ['an unknown option', ['serve', '--prot', '0'], /unknown option '--prot'/, 2],
    ['an unknown command', ['sevre'], /unknown command 'sevre'/, 2],
    ['a superfluous argument', ['serve', 'here', ...state], /too many arguments/, 2],
    [
      'a root that is missing',
      ['serve', '--root', join(root, 'nowhere'), ...state, '--port', '0'],
      /^casefile: .*nowhere/,
    ],
  ]
  for (const [name, args, stderr, code = 1] of wrong) {
    await t.test(name, async (t) => {
      const ended = await runBuilt(args)
      t.match(ended, { code, stdout: '', stderr })
      t.notMatch(ended.stderr, /^\s+at /m, 'no stack trace')
    })
  }
  await t.test('a second service on the same files names the first', async (t) => {
    const first = await started(['serve', '--root', root, ...state, '--port', '0'], {})
    t.teardown(() => first.stop('SIGKILL'))
    const elsewhere = t.testdir({})
    for (const args of [[], ['--state-dir', elsewhere]]) {
      const second = await runBuilt(['serve', '--root', root, ...state, '--port', '0', ...args])
      t.match(second, { code: 1, stdout: '', stderr: new RegExp(`\\b${first.pid}\\b`) })
    }
    t.match(await clientOf(() => first.url).request('GET', '/health'), { status: 200 })
  })
  await t.test('every option has its variable, and the option wins', async (t) => {
    t.teardown(() => {})
    const dir = t.testdir({ root: {}, memory: {}, state: {}, other: {} })
    const place = (name: string) => join(dir, name)
    const service = await started(['serve', '--root', place('root')], {
      CASEFILE_ROOT: place('other'),
      CASEFILE_PORT: '0',
      CASEFILE_DEV: '1',

      CASEFILE_MEMORY_ROOT: place('memory/deep'),
      CASEFILE_STATE_DIR: place('state'),
    })
    t.teardown(() => service.stop('SIGKILL'))
    const client = clientOf(() => service.url)
    t.strictSame(await must(client, 'GET', '/cases'), [])
    t.notOk(existsSync(place('memory/deep')), 'reading makes nothing')
    const ref = await planned(client, { runbook: step('pwd') })
    t.ok(existsSync(join(place('memory/deep/cases'), ref.case_id, 'case.md')))
    t.strictSame(readdirSync(place('root')), [])
    t.ok(readdirSync(place('state')).length > 0)
    t.strictSame(readdirSync(place('other')), [])
    await must(client, 'POST', `${ref.path}/approve`)
    await reaches(client, ref, 'complete')
    t.match((await must(client, 'GET', ref.path)).output, place('root'))
  })
  await t.test('without options it serves the current folder', async (t) => {
    t.teardown(() => {})
    const dir = t.testdir({ here: {}, state: {} })
    mkdirSync(join(dir, 'here/sub'))
    const env = { CASEFILE_PORT: '0', XDG_STATE_HOME: join(dir, 'state') }
    const service = await started(['serve'], env, join(dir, 'here'))
    t.teardown(() => service.stop('SIGKILL'))
    const { id } = await must(
      clientOf(() => service.url),
      'POST',
      '/cases',
      { title: 'First' },
    )
    t.ok(existsSync(join(dir, 'here/memory/cases', id, 'case.md')))
    t.match(readdirSync(join(dir, 'state/casefile')), [/^[0-9a-f]{16}$/])
  })
})

t.test('two signals are as good as one', inLongLane, async (t) => {
  const service = await startBuilt(t, folders(t))
  const ref = await planned(service, {
    runbook: step("trap '' TERM; echo begun; sleep 60; sleep 60"),
  })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'begun')
  const stopped = service.stop('SIGINT')
  await delay(200)
  process.kill(service.pid, 'SIGINT')
  t.match(await stopped, { code: 0 })
  await service.restart()
  t.match(await must(service, 'GET', ref.path), { state: 'failed', output: /service was stopped/ })
})
