import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type BuiltService, processesOf, startBuilt } from '../fixtures/built-service.ts'
import {
  agentFiles,
  committed,
  LIST_PLAN,
  plannedBy,
  plannedOn,
  says,
} from '../fixtures/plain-agents.ts'
import { git, says as hears, must, type Ref, stream } from '../fixtures/session-client.ts'
import { runsIn } from '../fixtures/state-rows.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

const STAYS =
  'trap "" TERM; setsid sh -c "trap \'\' TERM; while :; do sleep 1; done" & echo begun; while :; do sleep 0.1; done'

async function service(t: Test): Promise<BuiltService> {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const agents = {
    plans: { plan: STAYS },
    works: { plan: says(LIST_PLAN), work: `echo half > half.txt; ${STAYS}` },
    quick: { plan: says(LIST_PLAN), work: 'echo whole > whole.txt' },
  }
  const dir = t.testdir({ root: agentFiles(agents), state: {}, home: {} })
  committed(join(dir, 'root'))
  const [root, stateDir] = [join(dir, 'root'), join(dir, 'state')]
  return startBuilt(t, { root, stateDir, args: ['--trust'], env: { HOME: join(dir, 'home') } })
}

async function begun(client: BuiltService, provider: string): Promise<Ref> {
  const { id: case_id } = await must(client, 'POST', '/cases', { title: 'A case' })
  const wanted = { type: 'implementing', provider }
  const { id } = await must(client, 'POST', `/cases/${case_id}/sessions`, wanted)
  return { case_id, id, path: `/cases/${case_id}/sessions/${id}` }
}

function artifact({ root }: BuiltService, { case_id }: Ref, name: string): string {
  return readFileSync(join(root, 'memory/cases', case_id, 'artifacts', name), 'utf8')
}

/** What is told live is on its way to the disk just then. */
async function written(client: BuiltService, ref: Ref, name: string, text: string): Promise<void> {
  while (!artifact(client, ref, name).includes(text)) await delay(5)
}

t.test('kill -9 while an agent plans', linuxOnly, async (t) => {
  const client = await service(t)
  const ref = await begun(client, 'plans')
  await hears(await stream(client, ref), 'begun')
  await written(client, ref, '1-plan-agent.log', 'begun')
  t.equal(runsIn(client.stateDir).length, 1)
  await client.stop('SIGKILL')
  const isEnded = readFileSync(
    join(client.root, 'memory/cases', ref.case_id, 'sessions/1.md'),
    'utf8',
  ).includes('guard=mount')
  while (isEnded && processesOf(ref.id).length > 0) await delay(5) // the kernel ends them
  await client.restart()
  t.strictSame(processesOf(ref.id), [])
  const session = await must(client, 'GET', ref.path)
  t.match(session, { state: 'failed', output: /begun/, problems: { length: 0 } })
  t.strictSame(runsIn(client.stateDir), [])
  t.notOk(readdirSync(client.stateDir).includes('scratch'), 'what the run had is gone')
  t.equal(git(client.root, 'status', '--porcelain'), '')
  await plannedOn(client, ref.case_id, 'quick')
  t.match(
    artifact(client, ref, '2-plan-prompt.md'),
    /# Earlier session 1[\s\S]*service died[\s\S]*begun/,
  )
})

t.test('kill -9 while an agent works', linuxOnly, async (t) => {
  const client = await service(t)
  const { ref } = await plannedBy(client, 'works')
  const events = await stream(client, ref)
  await must(client, 'POST', `${ref.path}/approve`)
  await hears(events, 'begun')
  await written(client, ref, '1-agent.log', 'begun')
  await client.stop('SIGKILL')
  await client.restart()
  t.strictSame(processesOf(ref.id), [])
  t.match(await must(client, 'GET', ref.path), { state: 'failed', output: /begun/ })
  t.equal(git(client.root, 'status', '--porcelain'), '?? half.txt\n', 'what it did is there')
})

t.test('kill -9 at any moment', linuxOnly, async (t) => {
  const client = await service(t)
  for (const [round, ms] of [0, 20, 60, 120, 200, 300, 450, 600, 800, 1100].entries()) {
    const ref = await begun(client, round % 2 === 0 ? 'plans' : 'quick')
    await delay(ms) // at every moment of the planning: no event says when
    await client.stop('SIGKILL')
    await client.restart()
    t.strictSame(processesOf(ref.id), [], `after ${ms} ms`)
    const { state, problems } = await must(client, 'GET', ref.path)
    t.ok(['failed', 'plan_ready'].includes(state), state)
    t.strictSame(problems, [])
    t.strictSame(runsIn(client.stateDir), [])
  }
})

t.test('the service is told to stop', linuxOnly, async (t) => {
  const client = await service(t)
  const ref = await begun(client, 'plans')
  await hears(await stream(client, ref), 'begun')
  const { code, ms } = await client.stop('SIGTERM')
  t.equal(code, 0)
  t.comment(`${ms} ms`)
  t.strictSame(processesOf(ref.id), [])
  await client.restart()
  t.match(await must(client, 'GET', ref.path), { state: 'failed', output: /begun/ })
})

t.test(
  'an agent as an ordinary user',
  { skip: process.getuid?.() !== 0 && 'needs root' },
  async (t) => {
    t.teardown(() => {})
    const agents = {
      writes: { plan: `echo x >> "$WORKSPACE/code.txt"; id -u\n${says(LIST_PLAN)}` },
    }
    const files = { ...agentFiles(agents, 'env: [WORKSPACE]\n'), 'code.txt': 'one\n' }
    const dir = t.testdir({ root: files, state: {}, home: {} })
    const [root, stateDir, home] = ['root', 'state', 'home'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ]
    committed(root)
    execFileSync('chown', ['-R', '65534:65534', root, home])
    const client = await startBuilt(t, {
      root,
      stateDir,
      uid: 65534,
      args: ['--trust'],
      env: { HOME: home, WORKSPACE: root },
    })
    const { ref, session } = await plannedBy(client, 'writes')
    const trail = readFileSync(join(root, 'memory/cases', ref.case_id, 'sessions/1.md'), 'utf8')
    if (trail.includes('guarded mode=plan guard=mount')) {
      t.equal(readFileSync(join(root, 'code.txt'), 'utf8'), 'one\n')
    }
    t.match(session, { state: 'failed', output: /plan_violation: .*code\.txt/ })
    t.match(artifact(client, ref, '1-plan-agent.log'), /^65534$/m)
  },
)
