import { join } from 'node:path'
import t, { type Test } from 'tap'
import { usageTotal } from '../../src/model/usage.ts'
import { TERMINAL_AGENTS } from '../fixtures/agents/in-terminal.ts'
import { REAL_AGENTS, whyMissing } from '../fixtures/agents/real-agents.ts'
import { terminalScene } from '../fixtures/agents/terminal-scene.ts'
import { needsTmux } from '../fixtures/tmux.ts'

/*
 * The real Gemini CLI, Copilot and opencode in a terminal, with the hooks that `casefile agent install` writes, and a
 * scripted model. Gemini and Copilot ask in their own dialog for the plan once more when the operator has approved.
 */

const IDS = ['gemini', 'copilot', 'opencode'] as const
type Id = (typeof IDS)[number]

for (const id of IDS) {
  const why = whyMissing(id)
  const options = { ...needsTmux, ...(why === null ? {} : { skip: why }), timeout: 600_000 }
  t.test(`${id} in a terminal`, options, async (t) => {
    t.test('plans, is sent back, is approved, and works', (t) => wholeFlow(t, id))
    t.test('calls no tool while the service is down', (t) => serviceDown(t, id))
    if (id === 'opencode') return
    t.test('is put off, and told of the approval with the next prompt', (t) => putOff(t, id))
  })
}

async function wholeFlow(t: Test, id: Id): Promise<void> {
  const agent = { ...REAL_AGENTS[id], ...TERMINAL_AGENTS[id] }
  const scene = await terminalScene(t, id)
  const { model, terminal, session, post, told, file } = await scene.open('Limit')

  model.script(agent.writes(join(scene.root, 'early.txt')), ...agent.presents('1. Raise it.\n'))
  await terminal.say('Raise the limit')
  await terminal.shows(/Casefile records this/)
  const first = await session({ state: 'plan_ready' })
  t.match(first, { provider: id, plan: /^1\. Raise it\./ })
  t.equal(file('early.txt'), null)

  model.script(...agent.presents('1. Raise it to ten.\n'))
  await post(first, 'revise', { note: 'To which number?' })
  await told(/To which number\?/)
  const second = await session({ state: 'plan_ready', id: first.id })
  t.match(second.plan, /^1\. Raise it to ten\./)

  model.script(agent.edits(join(scene.root, 'app.js'), 'limit = 1', 'limit = 10'))
  await post(second, 'approve')
  if (agent.approves.length > 0) {
    await terminal.shows(agent.dialog)
    await terminal.choose(...agent.approves)
  }
  await terminal.shows(/Casefile: recorded/)
  const done = await session({ state: 'complete' })
  t.match(done, { diff: { file: 'app.js', additions: 1 } })
  // Copilot's hooks tell no tokens
  if (id !== 'copilot')
    t.match(usageTotal(done.usage), { input_tokens: Number, output_tokens: Number })
  t.equal(file('app.js'), 'limit = 10\n')
}

/** Nobody decides within the minute that these wait. */
async function putOff(t: Test, id: 'gemini' | 'copilot'): Promise<void> {
  const agent = { ...REAL_AGENTS[id], ...TERMINAL_AGENTS[id] }
  const scene = await terminalScene(t, id)
  const { model, terminal, session, post, told, file } = await scene.open('Limit')
  model.script(...agent.presents('1. Raise it.\n'), { text: 'It waits for you.' })
  await terminal.say('Raise the limit')
  const waiting = await session({ state: 'plan_ready' })
  const edit = agent.edits(join(scene.root, 'app.js'), 'limit = 1', 'limit = 10')
  model.script(edit, { text: 'It still waits.' })
  await terminal.say('And rename it')
  await terminal.shows(/Then tell the agent to go on/, 90_000)
  // Copilot hands it to the turn that was held, and says so to no hook
  if (id === 'copilot') {
    await terminal.shows(/It waits for you\./)
    await terminal.say('And now?')
  }
  await told(/still waits for the operator/)
  await terminal.shows(/It still waits\./)
  t.equal(file('app.js'), 'limit = 1\n', 'what was typed meanwhile changes nothing')
  await post(waiting, 'approve')
  const [presents] = agent.presents('1. Raise it.\n').slice(-1)
  model.script(presents!, edit, { text: 'Done.' })
  await terminal.say('Go on')
  await told(/The operator approved the plan/)
  await terminal.shows(agent.dialog)
  await terminal.choose(...agent.approves)
  await session({ state: 'complete' })
  t.equal(file('app.js'), 'limit = 10\n')
}

async function serviceDown(t: Test, id: Id): Promise<void> {
  const { service, root, open } = await terminalScene(t, id)
  const { model, terminal, told } = await open('Limit')
  await service.stop()
  model.script(REAL_AGENTS[id].reads(join(root, 'app.js')))
  await terminal.say('Read it')
  await told(/casefile serve/)
  t.pass('it is told how to start the service')
}
