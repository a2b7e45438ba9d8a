import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { hookedAgent } from '../fixtures/hooks.ts'
import { must, type Ref, reaches } from '../fixtures/session-client.ts'
import { until } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

/* Decisions that come when no hook of the agent waits for them. */

const hasProc = { skip: existsSync('/proc/self') ? false : 'needs /proc' }
const TEST = '```sh run id=test proof=log\ntest -f done.txt\n```\n'
const PLAN = `1. Raise it.\n\n${TEST}`

const app = await openTestService(t, { limits: { resume: 50 } })
const newCase = async (): Promise<string> => (await app.newCase({ title: 'Raise the limit' })).id

async function last(case_id: string): Promise<Ref & { state: string; number: number }> {
  const [session] = await must(app, 'GET', `/cases/${case_id}/sessions`)
  return { ...session, path: `/cases/${case_id}/sessions/${session?.id}` }
}

/** Hands in a plan by MCP, which no hook waits for. */
async function proposed(case_id: string): Promise<Ref> {
  // no process, so that the folder decides
  const agent = { agent: 'claude', cwd: app.root, pid: 4_194_301 }
  await must(app, 'POST', `/cases/${case_id}/proposed-plans`, { plan: PLAN, ...agent })
  return last(case_id)
}

const contextOf = (said: { hookSpecificOutput?: { additionalContext?: string } } | null) =>
  said?.hookSpecificOutput?.additionalContext ?? ''
const write = { file_path: join(app.root, 'limit.js') }
const status = ({ case_id, id }: Ref) => must(app, 'GET', `/cases/${case_id}/status?session=${id}`)
const isUntold = (ref: Ref) =>
  until(async () => JSON.stringify(await status(ref)).includes('does not know yet'))

t.test(
  'an agent whose turn has ended is told with its next prompt, once',
  inLongLane,
  async (t) => {
    const case_id = await newCase()
    const agent = hookedAgent(app, { case_id, session: 'idle' })
    await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
    const session = await proposed(case_id)
    await agent.tell('Stop', { stop_hook_active: false })
    await must(app, 'POST', `${session.path}/approve`, { note: 'Careful.' })
    await reaches(app, session, 'executing')
    await isUntold(session)
    t.match(await status(session), { detail: /claude --resume idle/ })
    await agent.tell('SessionEnd', { reason: 'other' })
    await agent.tell('SessionStart', { source: 'resume' })
    const told = contextOf(await agent.tell('UserPromptSubmit', { prompt: 'Go on' }))
    t.match(told, /approved the plan[\s\S]*Raise it[\s\S]*Careful/)
    t.notMatch(contextOf(await agent.tell('UserPromptSubmit', { prompt: 'And?' })), /approved the/)
    t.equal(await agent.call('Write', write), null)
    await must(app, 'POST', `${session.path}/abandon`)
  },
)

t.test('one that is in a turn goes on with it when the turn ends', inLongLane, async (t) => {
  const case_id = await newCase()
  const agent = hookedAgent(app, { case_id, session: 'turning' })
  await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
  const session = await proposed(case_id)
  await must(app, 'POST', `${session.path}/approve`)
  await reaches(app, session, 'executing')
  const goOn = await agent.tell('Stop', { stop_hook_active: false })
  t.match(goOn, { decision: 'block', reason: /approved the plan[\s\S]*Raise it/ })
  t.match(await agent.tell('Stop', { stop_hook_active: true }), {
    decision: 'block',
    reason: /test exited with 1/,
  })
  await must(app, 'POST', `${session.path}/abandon`)

  const second = await proposed(case_id)
  await must(app, 'POST', `${second.path}/revise`, { note: 'To which number?' })
  t.match(await agent.tell('Stop', { stop_hook_active: false }), { reason: /To which number/ })
  t.equal(contextOf(await agent.tell('UserPromptSubmit', { prompt: 'x' })).match(/number/), null)

  const third = await proposed(case_id)
  await must(app, 'POST', `${third.path}/approve`)
  await reaches(app, third, 'executing')
  t.equal(await agent.call('Write', write), null, 'it heard of it by MCP')
  writeFileSync(join(app.root, 'done.txt'), 'x')
  t.match(await agent.tell('Stop', { stop_hook_active: false }), { systemMessage: /complete/ })
})

t.test('a closed terminal leaves its plan waiting, and is told later', hasProc, async (t) => {
  const case_id = await newCase()
  const shell = spawn('sleep', ['1000'], { stdio: 'ignore' })
  const ended = once(shell, 'exit')
  const [headers, session] = [{ 'x-casefile-pid': `${shell.pid}` }, 'closed']
  const closing = new AbortController()
  const body = {
    session_id: session,
    cwd: app.root,
    hook_event_name: 'PermissionRequest',
    tool_name: 'ExitPlanMode',
    tool_input: { plan: PLAN },
  }
  const asked = fetch(`${app.url}/hooks/claude`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-casefile-case': case_id, ...headers },
    body: JSON.stringify(body),
    signal: closing.signal,
  }).catch(() => {})
  await until(async () => (await last(case_id))?.state === 'plan_ready')
  closing.abort()
  await asked
  shell.kill('SIGKILL')
  await ended
  const waiting = await last(case_id)
  await must(app, 'POST', `${waiting.path}/approve`)
  await reaches(app, waiting, 'executing')
  await isUntold(waiting)
  const again = hookedAgent(app, { case_id, session })
  await again.tell('SessionStart', { source: 'resume' })
  const told = contextOf(await again.tell('UserPromptSubmit', { prompt: 'Go on' }))
  t.match(told, /approved the plan/)
  t.equal((await last(case_id)).state, 'executing')
  await must(app, 'POST', `${waiting.path}/abandon`)
})

t.test('an approval outlives the service, for the same plan only', async (t) => {
  for (const plan of [PLAN, `${PLAN}\nAnd more.\n`]) {
    const case_id = await newCase()
    const agent = hookedAgent(app, { case_id, session: `restarted ${plan.length}` })
    await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
    const session = await proposed(case_id)
    await agent.tell('Stop', { stop_hook_active: false })
    await must(app, 'POST', `${session.path}/approve`)
    await reaches(app, session, 'executing')
    await isUntold(session)
    await app.restart()
    await reaches(app, session, 'failed')
    const told = contextOf(await agent.tell('UserPromptSubmit', { prompt: 'Go on' }))
    t.match(told, /approved the plan[\s\S]*Present exactly this text again/)
    t.match(await agent.call('Write', write), /no approved plan/)
    if (plan === PLAN) {
      t.match(await agent.present(plan), { behavior: 'allow' })
      t.equal(await agent.call('Write', write), null)
      t.match((await last(case_id)).number, 2)
    } else {
      agent.present(plan).catch(() => {})
      await until(async () => (await last(case_id)).state === 'plan_ready')
    }
    await must(app, 'POST', `${(await last(case_id)).path}/abandon`)
    t.notMatch(contextOf(await agent.tell('UserPromptSubmit', { prompt: 'x' })), /approved the/)
  }
})

t.test(
  'an abandoned approval does not count, nor is it told; an answer to a question is',
  async (t) => {
    const case_id = await newCase()
    const agent = hookedAgent(app, { case_id, session: 'abandoned' })
    await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
    const first = await proposed(case_id)
    await must(app, 'POST', `${first.path}/approve`)
    await isUntold(first)
    await must(app, 'POST', `${first.path}/abandon`)
    const session = await proposed(case_id)
    t.match(session, { state: 'plan_ready' }, 'the same plan in the same turn')
    await agent.tell('Stop', { stop_hook_active: false })
    await must(app, 'POST', `${session.path}/approve`)
    await isUntold(session)
    await must(app, 'POST', `${session.path}/abandon`)
    await must(app, 'PUT', `/cases/${case_id}/state`, { state: 'NEEDS_USER_INPUT', reason: 'Ten?' })
    await must(app, 'POST', `/cases/${case_id}/answer`, { text: 'No, twelve.' })
    const told = contextOf(await agent.tell('UserPromptSubmit', { prompt: 'Go on' }))
    t.notMatch(told, /approved the/)
    t.match(told, /No, twelve/)
    t.notMatch(contextOf(await agent.tell('UserPromptSubmit', { prompt: 'x' })), /twelve/)
  },
)
