import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  drivenProviders,
  homeEnvironment,
  MODEL_KEY,
  REAL_AGENTS,
  type RealAgentId,
  whyMissing,
} from '../fixtures/agents/real-agents.ts'
import { processesOf, startBuilt } from '../fixtures/built-service.ts'
import { isFull } from '../fixtures/full.ts'
import { FAULTS, type FaultKind } from '../fixtures/model-dialects.ts'
import { committed, plannedBy } from '../fixtures/plain-agents.ts'
import { openScriptedModel } from '../fixtures/scripted-model.ts'
import { finished, git, must, type Ref, stream } from '../fixtures/session-client.ts'
import { OUTSIDE } from '../fixtures/walled-place.ts'

/*
 * The real programs behind the built service, with a scripted model. `npm test` drives those that .ci/run installs,
 * each once in one of its two ways; `npm run test:agents` drives all five, and has the model fail.
 */

const IN_EVERY_TEST: RealAgentId[] = ['codex', 'gemini', 'opencode']
const WITH_SANDBOX: RealAgentId[] = ['codex']

const PROOF = `
\`\`\`sh run id=proof proof=tap
grep -q written made.txt && printf 'TAP version 14\\n1..1\\nok 1\\n'
\`\`\`
`

const answer = (step: string, proof = PROOF) => ({
  text: `I looked.

<!-- casefile:plan -->
## Hypothesis

The limit is too low.

## Plan

1. ${step}
${proof}<!-- /casefile:plan -->`,
})

/** The built service with the agent on its PATH, a home of its own, and a model. */
async function scene(t: Test, provider: RealAgentId) {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  // elsewhere than in temporary folders, where it could write without mounts
  const dir = realpathSync(mkdtempSync(join(OUTSIDE, 'casefile-agents-')))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const name of ['root', 'state', 'home']) mkdirSync(join(dir, name))
  writeFileSync(join(dir, 'root/app.js'), 'limit = 1\n')
  return sceneIn(t, provider, dir)
}

async function sceneIn(t: Test, provider: RealAgentId, dir: string) {
  const [root, stateDir, home] = [join(dir, 'root'), join(dir, 'state'), join(dir, 'home')]
  mkdirSync(join(home, 'tmp'))
  committed(root)
  const model = await openScriptedModel()
  t.teardown(() => model.close())
  const agent = REAL_AGENTS[provider]
  const env = { ...homeEnvironment(home), ...agent.settle(home, model.url) }
  const service = await startBuilt(t, { root, stateDir, env })
  const sessions = ({ case_id }: Ref) => join(root, 'memory/cases', case_id, 'sessions')
  const trail = (ref: Ref) =>
    readFileSync(join(sessions(ref), '1.md'), 'utf8').split('## Audit trail')[1] ?? ''
  const file = (name: string) => readFileSync(join(root, name), 'utf8')
  return { root, home, model, agent, service, sessions, trail, file }
}

type Scene = Awaited<ReturnType<typeof scene>>

t.jobs = isFull ? 3 : 1
for (const provider of drivenProviders(IN_EVERY_TEST)) {
  const why = whyMissing(provider)
  const options = { ...(why === null ? {} : { skip: why }), buffered: isFull, timeout: 1_800_000 }
  // tap keeps what it is given: each test has options of its own
  const drive = (what: string, run: (t: Test, provider: RealAgentId) => Promise<void>) =>
    t.test(`${provider}, ${what}`, { ...options }, (t) => run(t, provider))
  drive('from the case to the evidence', flow)
  if (WITH_SANDBOX.includes(provider)) drive('refused by its sandbox', refusals)
  if (isFull) drive('outside the scope of its plan', scoped)
  if (isFull) drive('while its model fails', faults)
}

async function flow(t: Test, provider: RealAgentId): Promise<void> {
  const here = await scene(t, provider)
  const { root, model, agent, service, sessions, trail, file } = here

  model.script(
    agent.writes(join(root, 'app.js')),
    agent.runs('echo written > by-command.txt'),
    answer('Raise it.'),
  )
  const { ref, session } = await plannedBy(service, provider)
  t.equal(model.requests.length, 3, 'it was asked to write')
  t.equal(file('app.js'), 'limit = 1\n', 'the disk is clean')
  t.equal(git(root, 'status', '--porcelain'), '')
  t.match(session, { state: 'plan_ready', hypothesis: 'The limit is too low.' }, trail(ref))
  t.match(session.plan, /^1\. Raise it\.\n\n```sh run id=proof/)
  t.match(trail(ref), /agent_session agent_session=\S+/)

  if (isFull) await revise(t, provider, here, ref)

  model.script(
    agent.writes(join(root, 'made.txt')),
    agent.edits(join(root, 'app.js'), 'limit = 1', 'limit = 10'),
    agent.runs(': > log.txt; (setsid sleep 600 >> log.txt 2>&1 &); cat app.js'),
    agent.runs('echo broken; exit 3'),
    { text: 'The limit is ten now.' },
  )
  const run = await finished(service, ref)
  t.match(run.session, { state: 'complete', tests: { run: 1, passed: 1, failed: 0 } }, trail(ref))
  t.equal(file('app.js'), 'limit = 10\n')
  const changed = run.session.diff?.files.map((each: { file: string }) => each.file)
  t.strictSame(changed?.sort(), ['app.js', 'log.txt', 'made.txt'])
  t.match(trail(ref), /tool_call /)
  t.strictSame(processesOf(ref.id), [], 'it leaves no process behind')
  const recorded = readdirSync(sessions(ref), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  t.notMatch(recorded.join('\n'), MODEL_KEY, 'its key is in no record')
}

/** Behind the walls of the run, its hook asks the program of the service. */
async function scoped(t: Test, provider: RealAgentId): Promise<void> {
  const { root, model, agent, service, trail } = await scene(t, provider)
  model.script(answer('Write it.', '\n## Scope\n\n- paths: made/**\n- commands: echo\n'))
  const { ref } = await plannedBy(service, provider)
  model.script(
    agent.writes(join(root, 'made/in.txt')),
    agent.writes(join(root, 'out.txt')),
    agent.runs('echo inside > made/by-command.txt'),
    agent.runs('touch made/x'),
    { text: 'It is done.' },
  )
  mkdirSync(join(root, 'made'))
  const { session } = await finished(service, ref)
  t.match(session, { state: 'complete', findings: { refused: { work: 2 } } }, trail(ref))
  // Codex writes by a command
  const outside = provider === 'codex' ? 'it writes out.txt, which is' : 'out.txt is'
  const scope = 'outside the scope of the plan'
  t.ok(trail(ref).includes(` reason="Casefile: ${outside} ${scope} (paths: made/**). Stay`))
  t.ok(
    trail(ref).includes(`reason="Casefile: \\"touch made/x\\" is ${scope} (commands: echo). Stay`),
  )
  t.strictSame(readdirSync(join(root, 'made')).sort(), ['by-command.txt', 'in.txt'])
}

interface Session {
  findings: { refused: { first: { mode: string; action: string | null }[] } }
}

/** What its own sandbox refuses is shown, and does not undo the work; Codex does not send all of it. */
async function refusals(t: Test, provider: RealAgentId): Promise<void> {
  // elsewhere than below /tmp, where the sandbox lets it write
  const dir = realpathSync(mkdtempSync('/var/tmp/casefile-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const part of ['root', 'state', 'home', 'elsewhere']) mkdirSync(join(dir, part))
  writeFileSync(join(dir, 'root/app.js'), 'limit = 1\n')
  const { root, model, agent, service, trail, file } = await sceneIn(t, provider, dir)
  const outside = ['a', 'b', 'c'].map((name) => join(dir, 'elsewhere', `${name}.txt`))
  const writes = outside.map(agent.writes)
  const commands = outside.map((path) => `echo written > '${path}'`)

  const refused = (mode: 'plan' | 'work', { session }: { session: Session }) =>
    session.findings.refused.first.filter((each) => each.mode === mode).map(({ action }) => action)

  model.script(...writes, answer('Raise it.', ''))
  const planned = await plannedBy(service, provider)
  const { ref } = planned
  t.equal(planned.session.state, 'plan_ready', trail(ref))
  t.strictSame(refused('plan', planned).sort(), commands)

  model.script(...writes, agent.edits(join(root, 'app.js'), 'limit = 1', 'limit = 10'), {
    text: 'It could not be written there. The limit is ten now.',
  })
  const worked = await finished(service, ref)
  t.equal(worked.session.state, 'complete', trail(ref))
  t.strictSame(refused('work', worked).sort(), commands, trail(ref))
  t.match(worked.session.findings.refused, { plan: 3, work: 3 })
  t.equal(file('app.js'), 'limit = 10\n')
  t.strictSame(readdirSync(join(dir, 'elsewhere')), [], 'nothing outside changed')
}

/** A revision goes back to the conversation in which the plan was made. */
async function revise(t: Test, _provider: RealAgentId, here: Scene, ref: Ref): Promise<void> {
  const { model, service, trail } = here
  model.script(answer('Raise it to ten.'))
  await must(service, 'POST', `${ref.path}/revise`, { note: 'Say how far.' })
  const events = await stream(service, ref)
  let ready = 0
  await events.next(({ data }) => {
    const { new_state } = JSON.parse(data).payload
    if (new_state === 'plan_ready') ready++
    return ready === 2 || new_state === 'failed'
  })
  events.close()
  const revised = await must(service, 'GET', ref.path)
  t.match(revised.plan, /^1\. Raise it to ten\./, trail(ref))
  const prompt = JSON.stringify(model.requests.at(-1)?.body)
  t.match(prompt, 'Say how far.')
  t.match(prompt, 'I looked.', 'it is the same conversation')
}

/** What a person reads: one line, no JSON, no stack. */
const SENTENCE = /^(?!.*(?:\{"|\.js:\d+:|\bat async\b))\S.*\S$/

async function faults(t: Test, provider: RealAgentId): Promise<void> {
  const { root, home, model, agent, service, trail } = await scene(t, provider)
  agent.hurry?.(home)
  const always = Number.POSITIVE_INFINITY

  function limit(fault: FaultKind): void {
    const time = fault === 'hang' ? '20s' : '3m'
    writeFileSync(
      join(root, 'casefile.md'),
      `---\ntimeout: { plan: ${time}, work: ${time} }\n---\n`,
    )
    git(root, 'add', '.')
    git(root, 'commit', '--quiet', '--allow-empty', '-m', 'limits')
  }

  function failed(t: Test, ref: Ref, session: { state: string; plan: string }): void {
    const [, reason = ''] = /session_failed .*?reason=("(?:[^"\\]|\\.)*")/.exec(trail(ref)) ?? []
    t.equal(session.state, 'failed', trail(ref))
    t.match(reason && JSON.parse(reason), SENTENCE)
    t.strictSame(processesOf(ref.id), [])
    t.comment(reason)
  }

  for (const fault of FAULTS) {
    t.test(`${fault} in planning`, async (t) => {
      limit(fault)
      model.script({ fault, times: always })
      const { ref, session } = await plannedBy(service, provider)
      failed(t, ref, session)
      model.clear()
    })

    t.test(`${fault} at work`, async (t) => {
      limit(400)
      model.script(answer('Raise it.', '')) // so that nothing but the agent can fail
      const { ref } = await plannedBy(service, provider)
      limit(fault)
      const edit = agent.edits(join(root, 'app.js'), 'limit = 1', 'limit = 10')
      model.script(edit, { fault, times: always })
      const { session } = await finished(service, ref)
      // one that says nothing more may well be done
      if (fault !== 'empty') failed(t, ref, session)
      else t.match(session.state, /^(?:complete|failed)$/, trail(ref))
      model.clear()
      git(root, 'checkout', '--quiet', 'app.js')
    })
  }

  t.test('empty from the beginning of its work', async (t) => {
    limit(400)
    model.script(answer('Raise it.', ''))
    const { ref } = await plannedBy(service, provider)
    model.script({ fault: 'empty', times: always })
    const { session } = await finished(service, ref)
    failed(t, ref, session)
    model.clear()
  })
}
