import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readTrail } from '../../src/markdown/trail.ts'
import { processStat } from '../../src/platform/processes.ts'
import { openServer } from '../../src/serve.ts'
import { serveSample } from '../fixtures/browser-service.ts'
import { leftovers, processesOf, startBuilt } from '../fixtures/built-service.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { inLongLane, isFull } from '../fixtures/full.ts'
import { randomFrom } from '../fixtures/random.ts'
import {
  type Client,
  envelope,
  git,
  inLine,
  must,
  newSession,
  planned,
  type Ref,
  reaches,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { printedBy } from '../fixtures/session-record.ts'
import { orphanIn, SHED } from '../fixtures/shed-process.ts'
import { changeState, PUT_RUN, runsIn } from '../fixtures/state-rows.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

function folders(t: Test) {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: {}, state: {}, other: {} })
  return { root: join(dir, 'root'), stateDir: join(dir, 'state'), other: join(dir, 'other') }
}

const KILLS = isFull ? 100 : 10

/** What has to hold of every session after a restart: ended, whole, sealed, nothing left over. */
async function mustBeWhole(
  t: Test,
  service: Client & { root: string },
  ref: Ref,
  memory = join(service.root, 'memory'),
): Promise<void> {
  const session = await must(service, 'GET', ref.path)
  t.ok(['failed', 'complete', 'plan_ready'].includes(session.state), session.state)
  t.strictSame(session.problems, [])
  const file = join(memory, 'cases', ref.case_id, 'sessions', `${session.number}.md`)
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

t.test('a service that is killed, goes on, and is stopped', linuxOnly, async (t) => {
  const { other, ...at } = folders(t)
  const { root, stateDir } = at
  writeFileSync(join(root, '.gitignore'), 'ran*\n')
  git(root, 'init', '-q')
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'begin')
  const memory = join(other, 'deep/memory')
  // every option has its variable, and the option wins
  const env = {
    CASEFILE_MEMORY_ROOT: memory,
    CASEFILE_ROOT: other,
    CASEFILE_STATE_DIR: other,
    TMPDIR: other,
  }
  const fileOf = ({ case_id }: Ref, name = 'sessions/1.md') => join(memory, 'cases', case_id, name)
  let service = await startBuilt(t, { ...at, env })
  t.strictSame(await must(service, 'GET', '/cases'), [])
  t.notOk(existsSync(memory), 'reading makes nothing')

  const script =
    "setsid sh -c \"trap '' TERM; sleep 60; sleep 60\" &\ntrap '' TERM\necho begun\nwhile :; do sleep 0.1; done"
  const before = 'echo left > left.txt; echo 1..2; echo not ok 1 - old; sleep 60'
  const ref = await planned(service, {
    runbook:
      step(`mkfifo said; ${SHED}`, 'sh run id=a') +
      step(script, 'sh run id=b') +
      step('touch ran-never', 'sh run id=never'),
  })
  const waiting = await planned(service, { runbook: step('touch ran-1') })
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
  await must(service, 'POST', `${waiting.path}/approve`, { queue: true })
  t.equal((await inLine(service)).length, 1)
  t.ok(processesOf(ref.id).length >= 2)
  await service.stop('SIGKILL')
  service = await startBuilt(t, { ...at, env, args: ['--no-mount'] })

  const session = await must(service, 'GET', ref.path)
  t.match(session, {
    state: 'failed',
    output:
      /^- a: exit 0, .*\n- b: not finished\n\n[\s\S]*service died while the session was executing[\s\S]*begun\n/,
  })
  t.match(session.candidates, [
    { artifact: '1-a.log' },
    { artifact: '1-b.log', note: 'not finished' },
  ])
  await mustBeWhole(t, service, ref, memory)
  const orphan = orphanIn(printedBy(service, ref))
  t.teardown(() => orphan.end())
  const hasMounts = readFileSync(fileOf(ref), 'utf8').includes('guard=mount')
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
    output: /^- test-before: not finished/,
    tests: null,
    tests_before: null,
    candidates: [],
    worktree: { state: 'kept', ahead: 1, is_running: false },
  })
  await mustBeWhole(t, service, tests, memory)

  // what was in line waits for approval again, and never starts
  t.strictSame(runsIn(stateDir), [])
  await mustBeWhole(t, service, waiting, memory)
  t.match(await must(service, 'GET', waiting.path), { state: 'plan_ready', queue: null })
  t.match(
    readFileSync(fileOf(waiting), 'utf8'),
    /approval_taken_back reason="The service died while the session was waiting in line\." state=plan_ready\n\n<\/details>\n$/,
  )
  t.strictSame(await inLine(service), [])
  t.strictSame(
    readdirSync(root).filter((name) => name.startsWith('ran')),
    [],
  )
  const next = await newSession(service, ref.case_id)
  t.match(await must(service, 'GET', next.path), { number: 2 })
  await reaches(service, next, 'plan_ready')

  // a start goes on whatever the last run left
  const odd = await planned(service, {
    runbook:
      step(
        'echo first; sleep 600 & setsid sleep 600 & env -i sleep 600 & echo left=$!',
        'sh run id=a',
      ) +
      step(
        `f=${memory}/cases/$CASEFILE_CASE/artifacts/1-own.log; rm "$f"; ln -s /etc/hostname "$f"; echo evil > .envrc; echo begun > said2; sleep 60`,
        'sh run id=own',
      ),
  })
  await must(service, 'POST', `${odd.path}/approve`)
  while (!existsSync(join(root, 'said2'))) await delay(20)
  const log = join(memory, 'cases', odd.case_id, 'artifacts/1-a.log')
  const left = Number(/left=(\d+)/.exec(readFileSync(log, 'utf8'))?.[1])
  t.match(processStat(left)?.state, 'S')
  await service.stop('SIGKILL')
  // also what an earlier step left, before any start
  while (processesOf(odd.id).length > 0) await delay(20)
  t.notMatch(processStat(left)?.state, 'S')
  const pipes = () => readdirSync(other).filter((name) => name.startsWith('casefile-pipes-'))
  const runFolders = () => pipes().flatMap((name) => readdirSync(join(other, name)))
  t.equal(runFolders().length, 1)
  mkdirSync(join(other, pipes()[0]!, 'run-999999999-x'))
  writeFileSync(join(root, '.git/commondir'), '../.g\n')
  const text = readFileSync(fileOf(odd), 'utf8')
  writeFileSync(fileOf(odd), text.replace('echo first', 'echo other'))
  const strange = ['{}', '[', '{"session_id":"../x","mark":""}']
  for (const [index, text] of strange.entries()) {
    await changeState(stateDir, PUT_RUN, strangeId(index), text)
  }
  await service.restart()
  t.strictSame(runFolders(), [])
  await reaches(service, odd, 'failed')
  const killed = await must(service, 'GET', odd.path)
  t.match(killed, {
    candidates: [{ artifact: '1-a.log' }],
    failure: /^The service died while the session was executing\. The plan in this file is not the/,
    findings: { runs_later: [{ file: '.envrc', change: 'new' }] },
  })
  t.match(killed.output, /artifacts\/1-own\.log could not be read: ELOOP/)
  t.match(
    killed.output,
    /The plan in this file is not the one that was approved and executed\. .*: it wrote \.git\/commondir \(now artifacts\/1-commondir\.txt\), by which/,
  )
  t.equal(git(root, 'rev-parse', '--git-common-dir').trim(), '.git')
  await mustBeWhole(t, service, odd, memory)
  t.equal(runsIn(stateDir).length, 3, 'what it could not read stays')

  // a second service on the same files names the first
  const second = { root, memoryRoot: memory, stateDir: other, port: 0, log: () => {} }
  await t.rejects(openServer(second), { message: new RegExp(`\\b${service.pid}\\b`) })

  // a clean stop
  const stoppable = await planned(service, { runbook: step('echo begun; sleep 60') })
  const idle = await stream(service, await planned(service))
  const output = await stream(service, stoppable)
  await must(service, 'POST', `${stoppable.path}/approve`)
  await says(output, 'begun')
  const writes = Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      service.request('PUT', `/cases/${stoppable.case_id}/memory/n${index}.md`, `note ${index}`),
    ),
  )
  const stopped = service.stop('SIGTERM')
  const answers = await writes
  const { code, signal: by, stdout, stderr } = await stopped
  t.strictSame([code, by], [0, null])
  t.match(
    stderr,
    /^(casefile: the record of the run of session .* makes no sense and was skipped\n)*$/,
  )
  const [first, workspace, stop, counts, ...others] = stdout.trimEnd().split('\n')
  t.match(first, /^Casefile is listening on http:\/\/127\.0\.0\.1:\d+$/)
  t.equal(workspace, `Workspace: ${root}`)
  t.equal(stop, 'Press Ctrl-C to stop.')
  t.match(counts, /^\d+ needs? you$/)
  t.strictSame(others, [])
  t.equal(await output.closed, 'ended')
  t.equal(await idle.closed, 'ended')
  for (const [index, { status }] of answers.entries())
    t.equal(existsSync(fileOf(stoppable, `n${index}.md`)), status === 201, `${status}`)
  t.strictSame(await leftovers(memory), [])
  t.strictSame(processesOf(stoppable.id), [])
  const file = readFileSync(fileOf(stoppable), 'utf8')
  t.match(file, /^state: failed$/m)
  t.match(file, /begun[\s\S]*service was stopped[\s\S]* session_sealed [^\n]*\n\n<\/details>\n$/)
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

t.test('a command line that is wrong', async (t) => {
  const { run, runWith } = cliHere(t)
  const wrong: [args: string[], stderr: RegExp][] = [
    [['serve', '--port', '65536'], /Expected a number from 0 to 65535/],
    [['serve', '--prot', '0'], /unknown option '--prot'/],
    [['serve', 'here'], /too many arguments/],
  ]
  for (const [args, stderr] of wrong) t.match(await run(...args), { code: 2, stdout: '', stderr })
  const env = { CASEFILE_PORT: '-1' }
  t.match(await runWith({ env }, 'serve'), { code: 2, stderr: /CASEFILE_PORT.*Expected a number/ })
  const { root, stateDir } = folders(t)
  const missing = { root: join(root, 'nowhere'), stateDir, port: 0, log: () => {} }
  await t.rejects(openServer(missing), /nowhere/)
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

t.test(
  'a large log, killed in mid-run: session page and log page have the same lines, numbers and marks',
  { ...linuxOnly, ...inLongLane },
  async (t) => {
    const service = await serveSample(t)
    const printed = join(service.root, 'printed')
    const print = [
      'for n in $(seq 1 60); do',
      '  seq -f "line $n.%g of the output" 1 500; echo "oh no $n" >&2',
      'done',
      `touch '${printed}'; echo last >&2; sleep 60`,
    ].join('\n')
    const ref = await planned(service, { runbook: step(print, 'sh run id=print') })
    await must(service, 'POST', `${ref.path}/approve`)
    while (!existsSync(printed)) await delay(50)
    const page = `/case/${ref.case_id}/session/1`
    /** Number, mark and text of each line, by its number. */
    const linesAt = async (path: string) => {
      const reply = await fetch(service.url + path, { headers: { accept: 'text/html' } })
      const found = (await reply.text()).matchAll(
        /<span class="line([^"]*)" id="L[^"]*" data-line="(\d+)">(.*?)\n?<\/span>/gs,
      )
      return new Map(
        [...found].map(([, mark, number, line]) => [Number(number), `${mark} ${line}`]),
      )
    }
    const before = await linesAt(page)
    await service.kill()
    await service.again()
    await reaches(service, ref, 'failed')
    const after = await linesAt(page)
    t.ok(after.size > 2000, `${after.size} lines`)
    // the two streams are two pipes: which is read first is not known
    t.ok([...after.values()].some((line) => /^ error.* oh no 60/.test(line)))
    t.match(after.get(30_061), /error.* last/, 'the range that was open at the end')
    t.strictSame([...after].slice(0, before.size), [...before])
    const whole = new Map<number, string>()
    for (let line = 1; line <= 30_061; line = Math.max(...whole.keys()) + 1) {
      for (const each of await linesAt(`${page}/log/1-print.log?view=raw&line=${line}`))
        whole.set(...each)
    }
    t.equal(whole.size, 30_061)
    t.equal([...whole.values()].filter((line) => /^ error/.test(line)).length, 61)
    t.strictSame(
      [...after].filter(([number, line]) => whole.get(number) !== line),
      [],
    )
  },
)
