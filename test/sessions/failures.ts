import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import t, { type Test } from 'tap'
import { readPlan } from '../../src/markdown/plan-steps.ts'
import * as decide from '../../src/model/decide-session.ts'
import type { Runner } from '../../src/runners/contract.ts'
import { startDiff } from '../../src/sessions/folder-diff.ts'
import { createJobs, type Job } from '../../src/sessions/jobs.ts'
import { plan } from '../../src/sessions/plan-mode.ts'
import { createRedactor } from '../../src/sessions/redaction.ts'
import { createStepRecorder } from '../../src/sessions/run-recorder.ts'
import { createRunRecords } from '../../src/state/runs.ts'
import type { StateFolder } from '../../src/state/state-folder.ts'
import { processesOf } from '../fixtures/built-service.ts'
import { inLongLane } from '../fixtures/full.ts'
import {
  envelope,
  git,
  must,
  newSession,
  planned,
  ran,
  reaches,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { orphanIn, SHED } from '../fixtures/shed-process.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const ARTIFACTS = 'memory/cases/$CASEFILE_CASE/artifacts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

t.jobs = 2

t.test('how a run ends', async (t) => {
  const environment = { ...process.env, SECRET_FOR_TEST: 'hidden' }
  const service = await openTestService(t, { files: { sub: { here: '' } }, environment })
  const after = step('echo after', 'sh run id=after')
  const runs: [
    name: string,
    runbook: string,
    expected: { state: string; output?: RegExp; not?: RegExp },
  ][] = [
    [
      'all steps in order',
      step('echo 1') + step('echo 2', 'bash run') + step('console.log(3)', 'js run'),
      {
        state: 'complete',
        output: /step-1\n1\n\[exit 0 after .*\]\n\n\$ step step-2\n2\n[\s\S]*\n3\n/,
      },
    ],
    [
      'the first unexpected exit stops it',
      step('exit 3', 'sh run id=bad') + after,
      {
        state: 'failed',
        output: /\[exit 3 after[\s\S]*step bad exited with 3, expected 0/,
        not: /after\n\[/,
      },
    ],
    [
      '-e: a command that fails ends the step',
      step('false\necho on'),
      { state: 'failed', not: /^on$/m },
    ],
    [
      '-u: so does an unset variable',
      step('echo "$NOT_SET_ANYWHERE"\necho on'),
      { state: 'failed', output: /NOT_SET_ANYWHERE/, not: /^on$/m },
    ],
    [
      'bash: and the middle of a pipe',
      step('false | cat\necho on', 'bash run'),
      { state: 'failed', not: /^on$/m },
    ],
    [
      'js: an error thrown',
      step('throw new Error("odd")', 'js run'),
      { state: 'failed', output: /odd/ },
    ],
    [
      'expect',
      step('exit 2', 'sh run expect=0,2') + after,
      { state: 'complete', output: /^after$/m },
    ],
    [
      'expect without 0',
      step('true', 'sh run expect=1'),
      { state: 'failed', output: /exited with 0, expected 1/ },
    ],
    [
      'continue',
      step('exit 9', 'sh run continue=true') + after,
      { state: 'complete', output: /\[exit 9[\s\S]*^after$/m },
    ],
    [
      'continue after a time-out',
      step('sleep 20', 'sh run continue=true timeout=100ms') + after,
      { state: 'complete', output: /timed out[\s\S]*^after$/m },
    ],
    ['cwd', step('ls', 'sh run cwd=sub'), { state: 'complete', output: /^here$/m }],
    [
      'a cwd that is missing',
      step('ls', 'sh run cwd=nowhere'),
      { state: 'failed', output: /could not be started[\s\S]*nowhere/ },
    ],
    [
      'time-out',
      step('echo begun; sleep 20', 'sh run timeout=3s'),
      { state: 'failed', output: /begun\n\[timed out after \d+(?:\.\d)? s\]/ },
    ],
    [
      'a command that is not found',
      step('no-such-command'),
      { state: 'failed', output: /exited with 127 \(a command was not found\)/ },
    ],
    ['a signal', step('kill -9 $$'), { state: 'failed', output: /ended by SIGKILL/ }],
    [
      'standard input is closed',
      step('if read -r line; then echo got; else echo none; fi'),
      { state: 'complete', output: /^none$/m },
    ],
    [
      'the marks in the environment',
      step('echo "[$CASEFILE_RUN][$CASEFILE_CASE][$CASEFILE_SESSION]"'),
      { state: 'complete', output: /\[[0-9a-f-]{36}\]\[[0-9a-f-]{36}\]\[[0-9a-f-]{36}\]/ },
    ],
    [
      'other variables are withheld, and named when it fails',
      step('echo "[$(env | grep SECRET_FOR_TEST)]"; exit 1'),
      { state: 'failed', output: /^\[\]$[\s\S]*did not get.*SECRET_FOR_TEST/m, not: /hidden/ },
    ],
    ['no steps', 'Only words.', { state: 'complete', output: /no steps/ }],
    ['no output', step('true'), { state: 'complete', output: /^\$ step step-1\n\[exit 0/ }],
  ]
  for (const [name, runbook, { state, output = /./, not = /^\b$/ }] of runs) {
    await t.test(name, async (t) => {
      const { ref, session } = await ran(service, runbook)
      t.match(session, { state, output, problems: { length: 0 }, diff: null })
      t.notMatch(session.output, not)
      const file = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
      t.equal(/session_sealed sha256=[0-9a-f]{64}\n$/.test(file), state === 'failed')
      t.match(file, /diff_taken diff=null reason=/)
    })
  }
  t.strictSame(service.log, [])
})

t.test('a missing interpreter is told', async (t) => {
  const environment: NodeJS.ProcessEnv = { ...process.env }
  const service = await openTestService(t, { environment })
  environment.PATH = '/nowhere'
  const { session } = await ran(service, step('echo x', 'bash run'))
  t.match(session, { state: 'failed', output: /could not be started[\s\S]*bash/ })
})

t.test('what a step leaves running ends with the run', linuxOnly, async (t) => {
  const service = await openTestService(t, { limits: SHORT_LIMITS })
  const left = `sleep 60 & setsid sh -c "trap '' TERM; sleep 60; sleep 60" &`
  const { ref, session } = await ran(service, step('mkfifo said') + step(`${left}\n${SHED}`))
  t.equal(session.state, 'complete')
  t.strictSame(processesOf(ref.id), [])
  const orphan = orphanIn(session.output)
  t.teardown(() => orphan.end())
  const trail = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
  const hasMounts = trail.includes('guard=mount')
  t.equal(orphan.isAlive(), !hasMounts, 'one that has shed its run id is found by its mounts')
})

t.test('abandon while it runs', linuxOnly, async (t) => {
  const service = await openTestService(t, { limits: SHORT_LIMITS })
  const script =
    "setsid sh -c \"trap '' TERM; sleep 60; sleep 60\" &\ntrap '' TERM\necho begun\nwhile :; do sleep 0.1; done"
  const ref = await planned(service, {
    runbook: step(script, 'sh run id=long') + step('touch never'),
  })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'begun')
  const began = Date.now()
  const session = await must(service, 'POST', `${ref.path}/abandon`, { reason: 'wrong turn' })
  t.ok(Date.now() - began < 5000, `took ${Date.now() - began} ms`)
  t.match(session, {
    state: 'abandoned',
    problems: [],
    output: /begun\n\[ended by SIGKILL[\s\S]*abandoned/,
  })
  t.strictSame(processesOf(ref.id), [])
  t.notOk(existsSync(join(service.root, 'never')))
  t.equal(await events.closed, 'ended')
  const last = events.received.map(envelope).slice(-3)
  t.match(last, [
    { event_type: 'agent_completed', payload: { mode: 'work', state: 'abandoned' } },
    {
      event_type: 'session_state_changed',
      payload: { new_state: 'abandoned', reason: 'wrong turn' },
    },
    { event_type: 'session_sealed' },
  ])
})

t.test('limits of casefile.md', async (t) => {
  const limits: [timeout: string, ends: RegExp][] = [
    ['step: 200ms', /step step-1 timed out after \d+\.\d s\./],
    ['work: 1s', /time limit for work/],
  ]
  for (const [timeout, ends] of limits) {
    await t.test(timeout, async (t) => {
      const files = { 'casefile.md': `---\ntimeout: { ${timeout} }\n---\n` }
      const { session } = await ran(await openTestService(t, { files }), step('sleep 60'))
      t.match(session, { state: 'failed', output: ends })
    })
  }
})

t.test('odd output', inLongLane, async (t) => {
  const service = await openTestService(t)
  const artifact = (id: string, name: string) => service.file(id, 'artifacts', name)

  await t.test('a flood of 5 MB', async (t) => {
    const script =
      'for (let i = 0; i < 50000; i++) process.stdout.write("line " + i + " " + "x".repeat(90) + "\\n")'
    const { ref, session, events } = await ran(service, step(script, 'js run id=flood'))
    t.equal(session.state, 'complete')
    const whole = readFileSync(artifact(ref.case_id, '1-flood.log'), 'utf8')
    t.ok(whole.startsWith('line 0 ') && whole.endsWith(`${'x'.repeat(90)}\n`))
    t.equal(whole.split('\n').length, 50_001)
    t.ok(Buffer.byteLength(session.output) <= 64 * 1024)
    t.match(
      session.output,
      /^line 0 [\s\S]*\[casefile: \d+ bytes cut here; full text is in artifacts\/1-flood\.log\]\n[\s\S]*line 49999 /m,
    )
    const live = events.filter((each) => each.event_type === 'session_output')
    const said = live.map(({ payload }) => payload.text).join('')
    t.match(
      said,
      /\n\[casefile: live output stops here at 1 MiB; the full output is in artifacts\/1-flood\.log\]\n$/,
    )
    t.ok(said.length < 1.3 * 1024 * 1024)
    const done = events.find((each) => each.event_type === 'step_finished')
    t.equal(done?.payload.output_bytes, Buffer.byteLength(whole))
    t.match(done?.payload.tail, /line 49999/)
  })

  await t.test('many steps that say much', async (t) => {
    const steps = Array.from({ length: 40 }, () => step('printf "%06000d\\n" 0')).join('')
    const { session } = await ran(service, steps)
    t.equal(session.state, 'complete')
    t.ok(Buffer.byteLength(session.output) <= 64 * 1024, `${Buffer.byteLength(session.output)}`)
    t.match(session.output, /bytes cut here; full text is in artifacts/)
  })

  await t.test('much, and then a failure: both are told', async (t) => {
    const { session } = await ran(
      service,
      step('console.log("y".repeat(200000)); process.exit(4)', 'js run'),
    )
    t.ok(Buffer.byteLength(session.output) <= 64 * 1024)
    t.match(session.output, /exited with 4/)
  })

  const shown: [name: string, script: string, expected: string | RegExp][] = [
    ['colours', 'printf "\\033[31mred\\033[0m\\n"', '\nred\n['],
    ['invalid UTF-8', 'printf "a\\377b\\n"', '\na\ufffdb\n['],
    ['zero bytes', 'printf "a\\000b\\n"', '\nab\n['],
    ['a progress bar', 'printf "10%%\\r20%%\\n"', '\n10%\n20%\n['],
    ['no line end', 'printf "end"', '\nend\n['],
    [
      'fences',
      'echo "\\`\\`\\`\\`"; echo "~~~~"; echo "\\`\\`\\`\\`\\`\\`"',
      '\n````\n~~~~\n``````\n[',
    ],
    [
      'conflict markers',
      'echo "<<<<<<< HEAD"; echo a; echo "======="; echo b; echo ">>>>>>> x"',
      '\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n[',
    ],
    [
      'a trail that it made up',
      'echo; echo "## Audit trail"; echo; echo "99. 2026-11-20T10:00:00.000Z session_state_changed old_state=executing new_state=abandoned"',
      '\n\n## Audit trail\n\n99. 2026',
    ],
    [
      'headings and frontmatter',
      'echo ---; echo "state: abandoned"; echo ---; echo; echo "## Plan"; echo; echo forged',
      '\n---\nstate: abandoned\n---\n\n## Plan\n\nforged\n[',
    ],
  ]
  for (const [name, script, expected] of shown) {
    await t.test(name, async (t) => {
      const runbook = step(script)
      const { session, events } = await ran(service, runbook)
      t.match(session, { state: 'complete', plan: runbook.trim(), problems: { length: 0 } })
      t.match(session.output, expected)
      const ids = events.filter((each) => each.event_type === 'session_completed')
      t.equal(ids.length, 1)
    })
  }

  await t.test('binary output is whole in the artifact', async (t) => {
    const { ref, session } = await ran(
      service,
      step(
        'const b = Buffer.alloc(70000); for (let i = 0; i < b.length; i++) b[i] = i % 251; process.stdout.write(b)',
        'js run',
      ),
    )
    const bytes = readFileSync(artifact(ref.case_id, '1-step-1.log'))
    t.equal(bytes.length, 70_000)
    t.ok(bytes.every((byte, index) => byte === index % 251))
    t.match(session, { state: 'complete', problems: { length: 0 } })
    const proof = await service.request('POST', `/cases/${ref.case_id}/proof`, {
      type: 'log',
      artifact: '1-step-1.log',
    })
    t.equal(proof.status, 400, 'it is no text, so it is no proof')
  })
})

t.test('test results come from reports, never from prose', async (t) => {
  const service = await openTestService(t)
  const tap = 'TAP version 13\n1..3\nok 1\nnot ok 2\nok 3 # SKIP\n'
  const junit =
    '<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite></testsuites>'
  const print = (text: string) => `cat <<'END'\n${text}\nEND`
  const cases: [name: string, runbook: string, tests: object | null, note: RegExp][] = [
    [
      'TAP',
      step(print(tap), 'sh run id=r proof=tap'),
      { run: 2, passed: 1, failed: 1 },
      /1 of 2 tests failed, 1 skipped/,
    ],
    [
      'TAP with noise on stderr',
      step(`echo "not ok 9" >&2; ${print(tap)}`, 'sh run id=r proof=tap'),
      { run: 2, passed: 1, failed: 1 },
      /1 of 2/,
    ],
    [
      'JUnit',
      step(print(junit), 'sh run id=r proof=junit'),
      { run: 2, passed: 1, failed: 1 },
      /1 of 2 tests failed/,
    ],
    [
      'a log that is TAP',
      step(print(tap), 'sh run id=r proof=log'),
      { run: 2, passed: 1, failed: 1 },
      /1 of 2/,
    ],
    ['prose', step('echo "47 of 47 tests passed"', 'sh run id=r proof=log'), null, /^exit 0/],
    [
      'no TAP where it was said',
      step('echo hello', 'sh run id=r proof=tap'),
      null,
      /no TAP in the output, exit 0/,
    ],
    ['nothing at all', step('true', 'sh run id=r proof=junit'), null, /^$/],
    [
      'the sum of two',
      step(print(tap), 'sh run id=r proof=tap') + step(print(junit), 'sh run proof=junit'),
      { run: 4, passed: 2, failed: 2 },
      /1 of 2/,
    ],
  ]
  for (const [name, runbook, tests, note] of cases) {
    await t.test(name, async (t) => {
      const { session } = await ran(service, runbook)
      t.strictSame(session.tests, tests)
      t.match(session.candidates[0]?.note ?? '', note)
    })
  }
})

t.test('the diff is exact', async (t) => {
  const change = step(
    'printf "a\\nB\\nc\\n" > f; echo new > untracked; rm gone; echo not >> ignored',
  )
  const files = { f: 'a\nb\nc\n', gone: 'x\ny\n', '.gitignore': 'ignored\n', ignored: '' }
  const expected = {
    additions: 2,
    deletions: 3,
    files: [
      { file: 'f', additions: 1, deletions: 1 },
      { file: 'gone', additions: 0, deletions: 2 },
      { file: 'untracked', additions: 1, deletions: 0 },
    ],
  }
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON
  const sorted = (diff: any) => ({
    ...diff,
    files: [...diff.files].sort((a, b) => (a.file < b.file ? -1 : 1)),
  })

  await t.test('of a repository', async (t) => {
    const service = await openTestService(t, { files: { ...files } })
    git(service.root, 'init')
    git(service.root, 'add', '.')
    git(service.root, 'commit', '-m', 'first')
    writeFileSync(join(service.root, 'mine'), 'not committed, and there before\n')
    const status = git(service.root, 'status', '--porcelain')
    const { ref, session } = await ran(service, change)
    t.match(sorted(session.diff), expected)
    t.notMatch(JSON.stringify(session.diff), /mine|ignored|memory/)
    t.match(
      readFileSync(service.file(ref.case_id, 'artifacts', '1-changes.patch'), 'utf8'),
      /deleted file[\s\S]*new file/,
    )
    t.match(git(service.root, 'status', '--porcelain'), / M f\n D gone\n/)
    t.notMatch(git(service.root, 'status', '--porcelain'), /^A/m, 'the index is the user’s own')
    t.ok(status)
    const none = await ran(service, step('true'))
    t.strictSame(none.session.diff, { file: '', additions: 0, deletions: 0 })
  })
  await t.test('without a commit yet', async (t) => {
    const service = await openTestService(t, { files: { ...files } })
    git(service.root, 'init')
    const { session } = await ran(service, change)
    t.match(sorted(session.diff), expected)
  })
  await t.test('of a folder in a monorepo: what happens beside it is not counted', async (t) => {
    const service = await openTestService(t, {
      files: { pkg: { ...files }, other: { x: '1\n' } },
      mount: false,
    })
    git(service.root, 'init')
    git(service.root, 'add', '.')
    git(service.root, 'commit', '-m', 'first')
    const { session } = await ran(
      service,
      `${change}${step('echo 2 > ../other/x; git add f; git -c user.name=T -c user.email=t@e.x commit -qm own')}`,
      { fields: { workdir: 'pkg' } },
    )
    t.match(session.state, 'complete')
    t.match(sorted(session.diff).additions, 2)
    t.match(sorted(session.diff).deletions, 3)
    t.notMatch(JSON.stringify(session.diff), /other/)
  })
})

t.test('a session whose files get in its way still ends', async (t) => {
  const service = await openTestService(t)
  const wait = step('until test -e go; do sleep 0.02; done; rm go') + step('echo second')

  await t.test('an artifact that somebody put there', async (t) => {
    const ref = await planned(service, { runbook: wait })
    await must(service, 'POST', `${ref.path}/approve`)
    await reaches(service, ref, 'executing')
    mkdirSync(service.file(ref.case_id, 'artifacts'), { recursive: true })
    writeFileSync(service.file(ref.case_id, 'artifacts', '1-step-2.log'), 'mine')
    writeFileSync(join(service.root, 'go'), '')
    await reaches(service, ref, 'complete')
    t.equal(readFileSync(service.file(ref.case_id, 'artifacts', '1-step-2.log'), 'utf8'), 'mine')
    const session = await must(service, 'GET', ref.path)
    t.match(session, { problems: { length: 0 }, output: /step-2\nsecond\n\[exit 0/ })
    const names = session.candidates.map((each: { artifact: string }) => each.artifact)
    t.strictSame(names, ['1-step-2-2.log'], 'what somebody put there is no evidence')
  })
  await t.test('a case.md that is broken when it completes', async (t) => {
    const ref = await planned(service, { runbook: wait })
    const file = service.file(ref.case_id, 'case.md')
    const text = readFileSync(file, 'utf8')
    await must(service, 'POST', `${ref.path}/approve`)
    await reaches(service, ref, 'executing')
    writeFileSync(file, '---\ntitle: [\n---\n')
    writeFileSync(join(service.root, 'go'), '')
    await reaches(service, ref, 'complete')
    writeFileSync(file, text.replace(/^state: .*$/m, 'state: IMPLEMENTING'))
    t.match(await must(service, 'GET', ref.path), { state: 'complete', problems: { length: 0 } })
    await service.restart()
    t.match(await must(service, 'GET', `/cases/${ref.case_id}`), { state: 'VERIFYING' })
  })
  await t.test('a session file that is broken while it runs', async (t) => {
    const ref = await planned(service, { runbook: wait })
    const file = service.file(ref.case_id, 'sessions', '1.md')
    await must(service, 'POST', `${ref.path}/approve`)
    await reaches(service, ref, 'executing')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, `<<<<<<< HEAD\n${text}=======\n>>>>>>> x\n`)
    writeFileSync(join(service.root, 'go'), '')
    const broken = await must(service, 'GET', ref.path)
    t.match(broken, { state: 'executing', problems: [{ code: 'merge_conflict' }] })
    t.match(readFileSync(file, 'utf8'), /^<<<<<<< HEAD/, 'it is not written over')
    writeFileSync(file, text)
    await reaches(service, ref, 'complete')
    t.match(await must(service, 'GET', ref.path), { state: 'complete', problems: { length: 0 } })
  })
})

t.test('no number is used twice', async (t) => {
  const service = await openTestService(t)
  const { id } = await service.newCase()
  const refs = await Promise.all([1, 2, 3].map(() => newSession(service, id)))
  for (const ref of refs) await reaches(service, ref, 'plan_ready')
  t.strictSame(readdirSync(service.file(id, 'sessions')).sort(), [
    '1.md',
    '2.md',
    '3.md',
    'latest.md',
  ])
  t.ok(statSync(service.file(id, 'sessions', 'latest.md')).isFile())
})

t.test('what a step does to the artifacts', async (t) => {
  const service = await openTestService(t, { mount: false })
  const own = (replace: string) =>
    step(`echo said; f=${ARTIFACTS}/1-own.log; rm "$f"; ${replace}`, 'sh run id=own') +
    step('echo next', 'sh run id=next')
  const replaced: [name: string, runbook: string, why: RegExp][] = [
    ['a link in place of its log', own('ln -s /etc/hostname "$f"'), /ELOOP/],
    ['a folder', own('mkdir "$f"'), /EISDIR/],
    ['a named pipe', own('mkfifo "$f"'), /EINVAL/],
  ]
  for (const [name, runbook, why] of replaced) {
    await t.test(name, async (t) => {
      const { session } = await ran(service, runbook)
      t.match(session, { state: 'complete', problems: { length: 0 } })
      t.match(session.output, /\[artifacts\/1-own\.log could not be read: E[A-Z]+\]\n\[exit 0/)
      t.match(session.output, why)
      t.match(session.candidates, [{ artifact: '1-next.log' }])
      t.equal(session.candidates.length, 1)
    })
  }
  await t.test('a folder in place of a log without output', async (t) => {
    const script = `f=${ARTIFACTS}/1-own.log; rm "$f"; mkdir "$f"`
    const { session } = await ran(service, step(script, 'sh run id=own'))
    t.match(session, { state: 'complete', candidates: [] })
  })
  await t.test('a report of a step that printed none', async (t) => {
    const forge = `cd ${ARTIFACTS}; for f in 1-a.log 1-a.tap 1-b.tap; do printf "1..1\\nok 1\\n" > $f; done`
    const { session } = await ran(
      service,
      step('true', 'sh run id=a proof=tap') +
        step('echo only here >&2', 'sh run id=b proof=tap') +
        step(forge, 'sh run id=c'),
    )
    t.match(session, { state: 'complete', tests: null })
    const [{ note, ...candidate }, ...more] = session.candidates
    t.match(candidate, { artifact: '1-b.log', type: 'test-log', why_not: note })
    t.strictSame(more, [])
    t.match(note, /^no TAP in the output, exit 0/)
    t.match(session.output, /only here/)
  })
  await t.test('a report under a name that is taken', async (t) => {
    const { session } = await ran(
      service,
      step(`printf "1..1\\nnot ok 1\\n" > ${ARTIFACTS}/1-b.tap`, 'sh run id=a') +
        step('printf "1..1\\nok 1\\n"', 'sh run id=b proof=tap'),
    )
    t.match(session, { state: 'complete', tests: { run: 1, passed: 1, failed: 0 } })
    t.equal(session.candidates.length, 1)
    t.match(session.candidates, [{ artifact: '1-b-2.tap', note: '1 of 1 test passed' }])
  })
  await t.test('a report that takes longer to read than one would wait', async (t) => {
    const script = 'for (let i = 0; i < 2000; i++) console.log(" ".repeat(4 * i) + "# Subtest: x")'
    const { session } = await ran(service, step(script, 'js run id=deep proof=tap'))
    t.match(session, { state: 'complete', tests: null })
    t.match(session.candidates, [{ artifact: '1-deep.tap', note: /^the report nests .*, exit 0/ }])
  })
})

t.test('a diff that has its troubles', async (t) => {
  const inRepository = async (t: Test) => {
    const service = await openTestService(t, { files: { f: 'a\n' }, mount: false })
    git(service.root, 'init')
    return service
  }
  await t.test('a patch that is there already stays, and ours is beside it', async (t) => {
    const service = await inRepository(t)
    const script = `echo b > f; echo mine > ${ARTIFACTS}/1-changes.patch`
    const { ref, session } = await ran(service, step(script))
    t.match(session, { state: 'complete', diff: { file: 'f', additions: 1, deletions: 1 } })
    t.match(session.candidates, [{ artifact: '1-changes-2.patch', note: 'f: +1 -1' }])
    const text = (name: string) =>
      readFileSync(service.file(ref.case_id, 'artifacts', name), 'utf8')
    t.equal(text('1-changes.patch'), 'mine\n')
    t.match(text('1-changes-2.patch'), /^\+b$/m)
  })
  await t.test('a patch for which there is no place', async (t) => {
    const service = await inRepository(t)
    const script = `echo b > f; rm -r ${ARTIFACTS}; echo > ${ARTIFACTS}`
    const { session, events } = await ran(service, step(script))
    t.match(session, { state: 'complete', diff: { file: 'f' }, candidates: [] })
    const taken = events.find((each) => each.event_type === 'diff_taken')
    t.match(taken?.payload, { warnings: 1, first: [/^no patch: /] })
  })
  await t.test('what git could not read is told', async (t) => {
    const service = await inRepository(t)
    const { session, events } = await ran(service, step('git init -q sub; echo x > sub/f'))
    t.equal(session.state, 'complete')
    const taken = events.find((each) => each.event_type === 'diff_taken')
    t.match(taken?.payload, { first: [/sub/] })
    t.ok(taken?.payload.warnings > 0)
  })
  const troubles: [name: string, scratch: string, signal: AbortSignal, reason: RegExp][] = [
    ['git that cannot be opened', 'f', new AbortController().signal, /file is in its place/],
    ['a session that is to end', 'scratch', AbortSignal.abort(), /session was stopped/],
  ]
  for (const [name, scratch, signal, reason] of troubles) {
    await t.test(name, async (t) => {
      const service = await inRepository(t)
      const { layout } = service.service
      const scope = { paths: null, commands: null }
      const place = {
        layout,
        scratch: join(service.root, scratch),
        exclude: [],
        signal,
        scope,
        prefix: '',
      }
      const redactor = createRedactor({})
      const taker = await startDiff(service.root, { ...place, redactor, case_id: 'x', number: 1 })
      t.match(await taker.finish(), { reason })
      await taker.close()
    })
  }
})

t.test('a run that breaks off leaves no log open', linuxOnly, async (t) => {
  const service = await openTestService(t)
  const { id } = await service.newCase()
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (let round = 0; round < 20; round++) {
    const recorder = createStepRecorder({
      layout: service.service.layout,

      case_id: id,
      number: round + 1,
      append: async () => {
        throw new Error('the disk is full')
      },
      publish: () => {},
      onProcess: async () => {},
      onNote: async () => {},
      endNotes: async () => {},
      redactor: createRedactor({}),
    })
    const [{ steps }] = [await readPlan(step('true', 'sh run proof=tap'))]
    await t.rejects(recorder.stepStarted(steps[0]!, 1000), /the disk is full/)
    await recorder.close()
  }
  t.ok(open() < before + 20, `${open()} open, ${before} before`)
})

t.test('a job whose failure cannot be handled closes all the same, and is logged', async (t) => {
  const log: string[] = []
  const jobs = createJobs({
    running: new Set(),
    isOver: () => false,
    parallel: () => Promise.resolve(2),
    titleOf: (id) => id,
    onChange: () => {},
    onFailure: () => Promise.reject(new Error('again')),
    log: (line) => log.push(line),
  })
  const ids = { session_id: 's', case_id: 'c', number: 1, runId: 'm' }
  const job = await jobs.open({ ...ids, kind: 'plan', folder: null, isolated: false })
  jobs.run(job, () => Promise.reject(new Error('first')))
  await jobs.end('s', 'stop')
  t.equal(jobs.find('s'), undefined)
  t.match(log, [/session 1 of case c .*again/])
})

t.test('once the service stops no job opens, nor one that waited', async (t) => {
  const jobs = createJobs({
    running: new Set(),
    isOver: () => true,
    parallel: () => Promise.resolve(2),
    titleOf: (id) => id,
    onChange: () => {},
    onFailure: () => Promise.resolve(),
    log: (line) => t.fail(line),
  })
  const wanted = (session_id: string) =>
    ({
      session_id,
      case_id: 'c',
      number: 1,
      runId: 'm',
      kind: 'work',
      folder: '/f',
      isolated: false,
    }) as const
  jobs.run(await jobs.open(wanted('first')), () => Promise.resolve())
  const waiting = jobs.open(wanted('second'))
  const stopped = jobs.endAll('stop')
  await t.rejects(waiting, { code: 'stopping' }, 'one that waited')
  await stopped
  await t.rejects(jobs.open(wanted('third')), { code: 'stopping' })
  t.same(jobs.active(), [])
})

t.test('planning ends in time, whatever the runner does', async (t) => {
  const service = await openTestService(t)
  const needs = { ...service.service, ...planningNeeds(service) }
  const cases: [
    name: string,
    result: Promise<never>,
    abort: boolean,
    reason: RegExp,
    log: RegExp[],
  ][] = [
    ['a runner that does not listen', new Promise(() => {}), true, /service was stopped/, []],
    [
      'one with a defect',
      Promise.reject(new TypeError('x is not a function')),
      false,
      /x is not a function/,
      [/TypeError: x is not a function\n\s+at /],
    ],
  ]
  for (const [, result] of cases) result.catch(() => {})
  for (const [name, result, abort, reason, log] of cases) {
    await t.test(name, async (t) => {
      const ref = await planned(service)
      const { number } = await must(service, 'GET', ref.path)
      await service.service.store.update(ref.case_id, (folder) =>
        decide.revise(folder, ref.id, { text: 'again', changes: [], lines: [] }, needs.now()),
      )
      const controller = new AbortController()
      const job: Job = {
        session_id: ref.id,
        case_id: ref.case_id,
        number,
        kind: 'plan',
        runId: 'm',

        folder: null,
        isolated: false,
        inLine: false,
        release: () => {},
        signal: controller.signal,
        reason: undefined,
        endedBy: undefined,
        planned: false,
        processes: [],
        folderId: ref.id,
        ending: abort ? 'stop' : null,
      }
      const runner: Runner = {
        kind: 'runbook',
        capabilities: { isAgent: false, executesAny: true },
        async plan() {
          if (abort) controller.abort()
          return result
        },
        execute: async () => ({ ok: true }),
      }
      service.log.length = 0
      await plan(needs, job, { id: 'odd', source: 'built-in', spec: null, trusted: true, runner })
      const file = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
      t.match(await must(service, 'GET', ref.path), { state: 'failed', problems: { length: 0 } })
      t.match(file, reason)
      t.equal(service.log.length, log.length)
      t.match(service.log, log)
    })
  }
})

function planningNeeds(service: TestService) {
  return {
    environment: {},
    redactor: createRedactor({}),
    conversations: new Map(),
    touchedInRun: new Set<string>(),
    running: new Set<string>(),
    isGits: () => false,
    mount: true,
    limits: SHORT_LIMITS,
    state: { root: service.stateDir } as StateFolder,
    runs: createRunRecords(service.service.database, (line) => service.log.push(line)),
  }
}
