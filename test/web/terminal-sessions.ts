import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { hookedAgent } from '../fixtures/hooks.ts'
import { textOf } from '../fixtures/page-text.ts'
import { git, must, type Ref, reaches } from '../fixtures/session-client.ts'
import {
  openTestService,
  type TestService,
  type TestServiceOptions,
} from '../fixtures/workspace.ts'

const PLAN =
  '# Raise the limit\n\n1. Raise it to ten.\n\n```sh run id=test proof=log\ntest -f done.txt\n```\n'
/** A hook still waits when the service of the test ends. */
const isCut = () => {}

async function opened(t: Test, options: TestServiceOptions = {}) {
  const app = await openTestService(t, options)
  writeFileSync(join(app.root, 'limit.js'), 'limit = 1\n')
  git(app.root, 'init', '--quiet', '--initial-branch=trunk')
  git(app.root, 'add', 'limit.js')
  git(app.root, '-c', 'user.name=Ada', '-c', 'user.email=a@b', 'commit', '-qm', 'first')
  const { id: case_id } = await app.newCase({ title: 'Raise the limit' })
  return { app, case_id }
}

async function inState(app: TestService, case_id: string, state: string): Promise<Ref> {
  for (;;) {
    const [found] = await must(app, 'GET', `/cases/${case_id}/sessions`)
    if (found?.state === state) return { ...found, path: `/cases/${case_id}/sessions/${found.id}` }
    await delay(20)
  }
}

async function page(app: TestService, path: string): Promise<string> {
  const reply = await app.request('GET', path, undefined, { accept: 'text/html' })
  t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 300)}`)
  return reply.text
}

t.test('a session in a terminal, from its first prompt to its proof', async (t) => {
  const { app, case_id } = await opened(t)
  const address = `/case/${case_id}/session/1`
  const agent = hookedAgent(app, { case_id })
  await agent.tell('UserPromptSubmit', { prompt: 'Raise the limit' })
  const file = join(app.root, 'limit.js')
  await agent.call('Read', { file_path: file })
  await agent.tell('PostToolUse', { tool_name: 'Read', tool_input: { file_path: file } })

  const planning = await page(app, address)
  t.match(textOf(planning, 'session-head'), /Session 1 Planning claude in a terminal/)
  t.equal(textOf(planning, 'terminal-place'), 'in the workspace, branch trunk')
  t.match(
    textOf(planning, 'status'),
    /The agent works on a plan in its terminal\. It can't change anything before its plan is approved\. Abandon$/,
  )
  t.match(planning, /data-confirm="Abandon session 1\? The agent keeps running in its terminal/)

  writeFileSync(join(app.root, 'early.js'), 'x\n')
  const asked = agent.present(PLAN)
  const session = await inState(app, case_id, 'plan_ready')
  const waits = await page(app, address)
  t.match(
    textOf(waits, 'status'),
    /The agent waits in its terminal\. You can also answer there; the first answer counts\./,
  )
  t.match(
    textOf(waits, 'execution-summary'),
    /The agent will carry out this plan in its terminal\. Each time it stops, Casefile runs 1 check: test\./,
  )
  t.equal(textOf(waits, 'approve-button'), 'Approve', 'it starts no agent')
  t.notMatch(waits, /<button[^>]*id="approve-button"[^>]*disabled/, 'no trust is needed for that')
  t.match(textOf(waits, 'revise'), /The agent gets this note in its terminal/)
  t.match(
    textOf(waits, 'early-changes'),
    /1 file changed .* A person may have made the change, .* early\.js/,
  )
  t.match(textOf(await page(app, `/case/${case_id}`), 'status'), /claude in a terminal/)
  t.match(await page(app, '/'), /session 1 · 1 step · claude in a terminal/)

  await must(app, 'POST', `${session.path}/approve`)
  await asked
  await reaches(app, session, 'executing')
  const works = await page(app, address)
  t.match(
    textOf(works, 'status'),
    /The agent works in its terminal\. Each time it stops, Casefile runs the proof steps of the plan: test\./,
  )
  await agent.tell('Stop', { stop_hook_active: false })
  const red = await page(app, address)
  t.match(textOf(red, 'status'), /At its last stop, test failed\./)
  t.match(textOf(red, 'trail'), /tool call Read limit\.js input_sha256 [0-9a-f]{64}/)
  t.match(textOf(red, 'trail'), /plan violation working_folder early\.js/)

  writeFileSync(join(app.root, 'done.txt'), 'x')
  await agent.tell('Stop', { stop_hook_active: false })
  const done = await page(app, address)
  t.match(textOf(done, 'status'), /^Session 1 is complete\./, 'the last run of a step counts')
  t.match(textOf(done, 'steps'), /1 of 1 done/)
  t.match(textOf(await page(app, `/case/${case_id}`), 'session-1'), /claude in a terminal/)
})

t.test('after a failure the service starts no agent', async (t) => {
  const { app, case_id } = await opened(t, { limits: { resume: 50 } })
  const agent = hookedAgent(app, { case_id })
  const asked = agent.present(PLAN)
  const session = await inState(app, case_id, 'plan_ready')
  await must(app, 'POST', `${session.path}/approve`)
  await asked // an agent that ends before it knows of the approval has not failed
  await reaches(app, session, 'executing')
  await agent.tell('SessionEnd', { reason: 'other' })
  await reaches(app, session, 'failed')
  const html = await page(app, `/case/${case_id}/session/1`)
  t.match(textOf(html, 'status'), /To continue, start the agent again in a terminal\./)
  t.match(textOf(html, 'status'), /Show the output/)
  t.notMatch(html, 'name="again"')
  const ofCase = await page(app, `/case/${case_id}`)
  t.match(textOf(ofCase, 'status'), /start the agent again in a terminal\. Show the output$/)
  t.notMatch(ofCase, 'name="again"')

  await t.test(
    'only an approval in Casefile counts, of a conversation that is known',
    async (t) => {
      const { id: case_id } = await app.newCase({ title: 'Raise it more' })
      const strict = { 'x-casefile-strict': '1' }
      const agent = hookedAgent(app, { case_id, session: 'strict', headers: strict })
      agent.present(PLAN).catch(isCut)
      await inState(app, case_id, 'plan_ready')
      const address = `/case/${case_id}/session/1`
      const known = await page(app, address)
      t.match(textOf(known, 'status'), /Only an approval in Casefile counts\./)
      app.service.conversations.ofSession = () => null
      const html = await page(app, address)
      t.match(textOf(html, 'status'), /The plan can't be approved yet\./)
      t.match(textOf(html, 'plan-errors'), /This machine doesn't know the conversation/)
      t.match(html, /<button[^>]*id="approve-button"[^>]*disabled/)
    },
  )
})

t.test('agents in terminals', async (t) => {
  const { app, case_id } = await opened(t)
  t.notMatch(await page(app, '/'), 'href="/agents"', 'no agent was heard')
  t.match(textOf(await page(app, '/agents'), 'no-agents'), /casefile agent install/)

  const bound = hookedAgent(app, { case_id, session: 'bound' })
  await bound.tell('UserPromptSubmit', { prompt: 'Go' })
  await bound.call('Read', { file_path: 'limit.js' })
  t.notMatch(await page(app, '/'), 'without a case')
  const unbound = hookedAgent(app, { session: 'unbound' })
  await unbound.tell('SessionStart', { source: 'startup', model: 'opus' })
  const [{ id }] = await must(app, 'GET', '/conversations')

  const list = await page(app, '/')
  t.match(list, /<nav[^>]*>.*href="\/agents".*<\/nav>/s)
  t.match(textOf(list, 'unbound-conversations'), /^1 conversation without a case\./)

  const html = await page(app, '/agents')
  t.match(textOf(html, 'with-case'), /claude Running Raise the limit Session 1 Planning .*trunk/)
  t.match(textOf(html, `conversation-${id}`), /claude Running in the workspace/)
  t.notMatch(textOf(html, 'main'), 'Not gated')
  t.match(html, `action="/conversations/${id}/adopt"`)
  t.match(html, `<option value="${case_id}">Raise the limit (${case_id.slice(0, 8)})</option>`)

  await t.test('one whose tool calls are not heard is not gated', async (t) => {
    await unbound.tell('UserPromptSubmit', { prompt: 'Go' })
    t.notMatch(textOf(await page(app, '/agents'), 'main'), 'Not gated', 'it may need no tool')
    await unbound.tell('UserPromptSubmit', { prompt: 'Go on' })
    t.match(
      textOf(await page(app, '/agents'), `conversation-${id}`),
      /Not gated: its hooks were not heard\. .*casefile agent status/,
    )
  })

  await t.test('with a case it is recorded, and its session says so too', async (t) => {
    await must(app, 'POST', `/conversations/${id}/adopt`, { case_id })
    await unbound.tell('UserPromptSubmit', { prompt: 'Go on' })
    t.notMatch(await page(app, '/agents'), 'id="without-case"')
    const session = await page(app, `/case/${case_id}/session/2`)
    t.match(textOf(session, 'not-gated'), /^Not gated: its hooks were not heard\./)
    await unbound.call('Read', { file_path: 'limit.js' })
    t.notMatch(await page(app, `/case/${case_id}/session/2`), 'id="not-gated"')
  })

  await t.test('one whose case is over may choose another', async (t) => {
    const { id: other } = await app.newCase({ title: 'Not needed' })
    const agent = hookedAgent(app, { case_id: other, session: 'over' })
    await agent.tell('SessionStart')
    const closed = { state: 'WONT_FIX', outcome: 'NotNeeded', reason: 'Not needed.' }
    await must(app, 'PUT', `/cases/${other}/state`, closed)
    const shown = await page(app, '/agents')
    t.match(
      textOf(shown, 'with-case'),
      /may only read.*Choose another case.*casefile agent use --none/s,
    )
    t.notMatch(shown, 'id="without-case"')
    await must(app, 'DELETE', `/cases/${other}`)
    t.match(textOf(await page(app, '/agents'), 'with-case'), /Its case was closed or deleted/)
  })

  await t.test('one that casefile agent run began, and that has ended', async (t) => {
    const announced = { agent: 'codex', cwd: '.', pid: process.pid }
    const { id: never } = await must(app, 'POST', '/conversations', announced)
    t.match(textOf(await page(app, '/agents'), `conversation-${never}`), /codex Running Not gated/)
    await bound.tell('SessionEnd', { reason: 'other' })
    t.match(textOf(await page(app, '/agents'), 'with-case'), /claude Ended Raise the limit/)
  })
})
