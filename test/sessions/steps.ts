// What each step of a run prints, and how it ends.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { processesOf } from '../fixtures/built-service.ts'
import { inLongLane } from '../fixtures/full.ts'
import { envelope, must, planned, ran, says, step, stream } from '../fixtures/session-client.ts'
import { partsOf, printedBy, recordOf } from '../fixtures/session-record.ts'
import { orphanIn, SHED } from '../fixtures/shed-process.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'
import { openTestService } from '../fixtures/workspace.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

const BINARY =
  'const b = Buffer.alloc(70000); for (let i = 0; i < b.length; i++) b[i] = i % 251; process.stdout.write(b)'
const LONG =
  'for (let i = 0; i < 2500; i++) process.stdout.write("line " + i + " " + "x".repeat(90) + "\\n")'
const ON = 'continue=true'

const STEPS: [id: string, info: string, script: string, part: string | RegExp][] = [
  [
    'sh',
    'sh',
    `if read -r line; then echo got; else echo none; fi
echo "[$CASEFILE_RUN][$CASEFILE_CASE][$CASEFILE_SESSION]"; env | grep -c SECRET_FOR_TEST || true
sleep 600 > /dev/null 2>&1 &`,
    /^none\n\[[0-9a-f-]{36}\]\[[0-9a-f-]{36}\]\[[0-9a-f-]{36}\]\n0\n\[exit 0, .*\]$/,
  ],
  ['js', 'js', 'console.log(3)', '3\n[exit 0,'],
  ['exit', `sh ${ON}`, 'exit 9', /^\[failed with exit 9,/],
  ['fails', `sh ${ON}`, 'false\necho on', /^\[failed with exit 1, /],
  [
    'unset',
    `sh ${ON}`,
    'echo "$NOT_SET_ANYWHERE"\necho on',
    /NOT_SET_ANYWHERE[\s\S]*\[failed with exit [1-9]/,
  ],
  ['pipe', `bash ${ON}`, 'false | cat\necho on', /^\[failed with exit 1, /],
  ['expected', 'sh expect=0,2', 'echo planned; exit 2', /^planned\n\[exit 2, .*, as expected\]$/],
  ['zero', `sh expect=1 ${ON}`, 'echo no', /^no\n\[failed with exit 0, [^,]*\]$/],
  [
    'slow',
    `sh timeout=200ms ${ON}`,
    'echo begun; sleep 60',
    /^(?:begun\n)?\[timed out after \d+ ms|timed out after [\d.]+ s\]/,
  ],
  ['folder', 'sh cwd=sub', 'ls', 'here\n[exit 0,'],
  ['nowhere', `sh cwd=nowhere ${ON}`, 'ls', /^\[could not be started/],
  ['moves', 'sh', 'mkdir real; ln -s real inside; ln -s / src', /^\[exit 0/],
  ['linked', 'sh cwd=inside', 'pwd', /real\n\[exit 0/],
  ['outside', `sh cwd=src ${ON}`, 'pwd', /^\[could not be started.*its folder leads outside/],
  ['killed', `sh ${ON}`, 'kill -9 $$', /^\[ended by SIGKILL/],
  ['silent', 'sh', 'true', /^\[exit 0,/],
  [
    'odd',
    'sh',
    `printf "\\033[31mred\\033[0m\\na\\377b\\na\\000b\\n10%%\\r20%%\\n"
echo '\`\`\`\`'; echo "~~~~"; echo "<<<<<<< HEAD"; echo "======="
echo; echo "## Audit trail"; echo; echo "99. 2026-11-20T10:00:00.000Z session_state_changed old_state=executing new_state=abandoned"
echo ---; echo "state: abandoned"; echo ---; echo "## Plan"; printf end`,
    /^red\na\ufffdb\nab\n10%\n20%\n````\n~~~~\n<<<<<<< HEAD\n=======\n\n## Audit trail\n\n99\. 2026.*\n---\nstate: abandoned\n---\n## Plan\nend\n\[exit 0/,
  ],
  ['binary', 'js', BINARY, /\[exit 0, /],
  ['long', 'js', LONG, /^line 0 [\s\S]*line 2499 x+\n\[exit 0/],
]

t.test(
  'each step has its part of the output, and the first unexpected end stops the run',
  async (t) => {
    const environment = { ...process.env, SECRET_FOR_TEST: 'hidden' }
    const service = await openTestService(t, { files: { sub: { here: '' } }, environment })
    const runbook = [
      ...STEPS.map(([id, info, script]) => step(script, info.replace(/^\w+/, `$& run id=${id}`))),
      step('exit 3', 'sh run id=bad'),
      step('touch never', 'sh run id=after'),
    ].join('')
    const { ref, session, events } = await ran(service, runbook)
    t.match(session, { state: 'failed', problems: { length: 0 }, diff: null, plan: runbook.trim() })
    const parts = partsOf(service, ref, session.output)
    t.strictSame(Object.keys(parts), [...STEPS.map(([id]) => id), 'bad'], 'in order')
    for (const [id, , , part] of STEPS) {
      t.match(parts[id], part, id)
      t.notMatch(parts[id], /^on$/m, id)
    }
    t.match(parts.bad, /^\[failed with exit 3, .*\]$/)
    t.match(session.output, /\n\nThe run stopped: step bad exited with 3, expected 0\.\n\n/)
    t.notMatch(session.output, /(?:Output|last lines) of expected/, 'it ended as it should')
    t.match(session.output, /\n\nOutput of zero/)
    t.match(session.output, /did not get these environment variables .*SECRET_FOR_TEST/)
    t.notMatch(session.output, 'hidden')
    t.ok(Buffer.byteLength(session.output) <= 16 * 1024)
    t.notOk(existsSync(join(service.root, 'never')))
    t.strictSame(processesOf(ref.id), [], 'what it left running has ended')

    const artifact = (name: string) => readFileSync(service.file(ref.case_id, 'artifacts', name))
    const binary = artifact('1-binary.log')
    t.equal(binary.length, 70_000)
    t.ok(
      binary.every((byte, index) => byte === index % 251),
      'whole in the artifact',
    )
    const long = artifact('1-long.log')
    const finished = events.find(
      ({ event_type, payload }) => event_type === 'step_finished' && payload.step === 'long',
    )!
    t.equal(finished.payload.output_bytes, long.length)
    t.match(finished.payload.tail, /^line 2\d{3} [\s\S]*line 2499 x+\n$/)
    t.ok(finished.payload.tail.length <= 2000)
    t.notOk(existsSync(service.file(ref.case_id, 'artifacts', '1-silent.log')), 'no empty log')
    t.match(
      await service.request('POST', `/cases/${ref.case_id}/proof`, {
        type: 'log',
        artifact: '1-binary.log',
      }),
      { status: 400 },
      'it is no text, so it is no proof',
    )
    const text = recordOf(service, ref)
    t.match(text, /session_sealed sha256=[0-9a-f]{64}\n\n<\/details>\n$/)
    t.match(text, / diff=\{"reason":/)
    t.strictSame(
      events.slice(-3).map(({ event_type }) => event_type),
      ['agent_completed', 'session_state_changed', 'session_sealed'],
    )
    t.match(events.at(-2)?.payload, { new_state: 'failed', reason: /exited with 3/ })
    t.strictSame(service.log, [])
  },
)

t.test('why a run stopped, and one without steps', inLongLane, async (t) => {
  const settings = (timeout: string) => `---\ntimeout: { ${timeout} }\n---\n`
  const files = { 'casefile.md': settings('step: 200ms') }
  const service = await openTestService(t, { files })
  const words = await ran(service, 'Only words.')
  t.match(words.session, { state: 'complete', output: /^The plan has no steps to run\.$/ })
  const { session } = await ran(service, step('sleep 60', `sh run ${ON}`))
  t.match(session.output, /^- step-1: timed out after \d/)
  // not together: a busy machine may need all of the time for work before the first step
  writeFileSync(join(service.root, 'casefile.md'), settings('work: 1s'))
  const late = await ran(service, step('sleep 60'))
  t.match(late.session, { state: 'failed', output: /reached the time limit for work/ })
})

t.test('an abandoned run ends with all that it started', linuxOnly, async (t) => {
  const service = await openTestService(t, { limits: SHORT_LIMITS })
  const stubborn = `setsid sh -c "trap '' TERM; sleep 60; sleep 60" &\ntrap '' TERM\necho begun\nwhile :; do sleep 0.1; done`
  const ref = await planned(service, {
    runbook: step(`mkfifo said; ${SHED}`) + step(stubborn, 'sh run id=long') + step('touch never'),
  })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'begun')
  const session = await must(service, 'POST', `${ref.path}/abandon`, { reason: 'wrong turn' })
  t.match(session, {
    state: 'abandoned',
    problems: [],
    output: /- long: ended by SIGKILL[\s\S]*abandoned[\s\S]*begun\n/,
  })
  t.strictSame(processesOf(ref.id), [])
  const orphan = orphanIn(printedBy(service, ref))
  t.teardown(() => orphan.end())
  const hasMounts = recordOf(service, ref).includes('guard=mount')
  t.equal(orphan.isAlive(), !hasMounts, 'one that has shed its run id is found by its mounts')
  t.notOk(existsSync(join(service.root, 'never')))
  t.equal(await events.closed, 'ended')
  t.match(events.received.map(envelope).slice(-3), [
    { event_type: 'agent_completed', payload: { mode: 'work', state: 'abandoned' } },
    {
      event_type: 'session_state_changed',
      payload: { new_state: 'abandoned', reason: 'wrong turn' },
    },
    { event_type: 'session_sealed' },
  ])
})
