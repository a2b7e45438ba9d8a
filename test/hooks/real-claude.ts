import { join } from 'node:path'
import t from 'tap'
import { quoted, TERMINAL_AGENTS } from '../fixtures/agents/in-terminal.ts'
import { AGENTS_BIN, REAL_AGENTS, whyMissing } from '../fixtures/agents/real-agents.ts'
import { type Bound, type SessionJson, terminalScene } from '../fixtures/agents/terminal-scene.ts'
import { CLI } from '../fixtures/cli.ts'
import { must } from '../fixtures/session-client.ts'
import { needsTmux } from '../fixtures/tmux.ts'

/* The real Claude Code in a terminal, with the hooks that `casefile agent install` writes, and a scripted model. */

const AGENT_COMMAND = `${quoted(AGENTS_BIN)}/${TERMINAL_AGENTS.claude.command}`
const AGENT = { ...REAL_AGENTS.claude, ...TERMINAL_AGENTS.claude }

/** Red until app.js has ten as its limit. */
const PROOF = `\`\`\`sh run id=check proof=tap
echo TAP version 14; echo 1..1; grep -q 'limit = 10$' app.js && echo ok 1 || { echo not ok 1; exit 1; }
\`\`\`
`
const planOf = (step: string) => `# Raise the limit\n\n1. ${step}\n\n${PROOF}`
const raise = (from: string, to: string, folder: string) =>
  AGENT.edits(join(folder, 'app.js'), `limit = ${from}`, `limit = ${to}`)

/** Resolves when its plan waits for a person. */
async function plan({ model, terminal, session }: Bound, step: string): Promise<SessionJson> {
  model.script(...AGENT.presents(planOf(step)))
  await terminal.say('Raise the limit')
  const found = await session({ state: 'plan_ready' })
  await terminal.shows(AGENT.dialog)
  return found
}

const why = whyMissing('claude')
const options = { ...needsTmux, ...(why === null ? {} : { skip: why }), timeout: 600_000 }

t.test('Claude Code in a terminal', options, async (t) => {
  t.test('plans, is sent back, is approved, works, and is blocked once', async (t) => {
    const scene = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit')
    const { model, terminal, file, told, session, post, trail } = agent

    model.script(AGENT.writes(join(scene.root, 'early.txt')))
    const first = await plan(agent, 'Raise it.')
    t.match(
      first,
      { provider: 'claude', plan: /1\. Raise it\.\n\n```sh run id=check/ },
      trail(first),
    )
    t.equal(file('early.txt'), null, 'it may not write before a plan is approved')
    await told(/PreToolUse:Write hook error/)

    model.script(...AGENT.presents(planOf('Raise it to ten.')))
    await post(first, 'revise', { note: 'To which number?' })
    await told(/To which number\?/)
    const second = await session({ state: 'plan_ready' })
    t.equal(second.id, first.id)
    t.match(second.plan, /Raise it to ten\./)

    model.script(raise('1', '9', scene.root), { text: 'It is raised.' })
    model.script(raise('9', '10', scene.root), { text: 'It is ten now.' })
    await post(second, 'approve', { plan_sha256: second.plan_sha256 })
    await told(/Stop hook blocking error/)
    const done = await session({ state: 'complete' })
    t.equal(file('app.js'), 'limit = 10\n')
    t.match(done, {
      tests: { run: 1, passed: 1, failed: 0 },
      diff: { file: 'app.js', additions: 1, deletions: 1 },
    })
    t.match(trail(done), /plan_approved /)
    await terminal.shows(/It is ten now\./)

    const artifact = done.candidates.find(({ artifact }: { artifact: string }) =>
      artifact.endsWith('.tap'),
    )?.artifact
    await must(scene.service, 'POST', `/cases/${agent.case_id}/proof`, {
      type: 'test-log',
      artifact,
    })
    t.match(trail(done), /session_sealed /)
  })

  t.test('an edited plan is the one that it works from', async (t) => {
    const { service, ...scene } = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit')
    const { id } = await plan(agent, 'Raise it.')
    const path = `/cases/${agent.case_id}/sessions/${id}`
    const edited = planOf('Raise it to ten, and say so.')
    const { plan_sha256 } = await must(service, 'PUT', `${path}/plan`, { plan: edited })
    agent.model.script(raise('1', '10', scene.root), { text: 'Done.' })
    await must(service, 'POST', `${path}/approve`, { plan_sha256 })
    await agent.told(/and say so/)
    await agent.session({ state: 'complete' })
  })

  t.test('the dialog in the terminal decides as well', async (t) => {
    const scene = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit')
    const { terminal, model, session, trail } = agent

    await plan(agent, 'Raise it.')
    await terminal.choose('Escape')
    await terminal.shows(/Rejected Claude's plan/)
    const asked = await plan(agent, 'Raise it to ten.')

    model.script(raise('1', '10', scene.root), { text: 'Done.' })
    await terminal.choose(...AGENT.approves)
    await terminal.shows(/Do you want to make this edit/)
    t.match(trail(asked), /plan_approved .*via=agent/)
    await terminal.choose('1')
    t.match(await session({ state: 'complete' }), { tests: { passed: 1 } })
    t.strictSame(agent.waitingHooks(), [], 'no hook waits on')
  })

  t.test('the service dies while a plan waits, and comes back elsewhere', async (t) => {
    const { service, ...scene } = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit')
    const { id } = await plan(agent, 'Raise it.')
    await service.stop('SIGKILL')
    t.match(agent.terminal.screen(), AGENT.dialog)
    await service.restart()
    const waits = await agent.session({ state: 'plan_ready', id })
    agent.model.script(raise('1', '10', scene.root), { text: 'Done.' })
    await agent.post(waits, 'approve')
    await agent.session({ state: 'complete' })
    t.equal(agent.file('app.js'), 'limit = 10\n')
  })

  t.test('writes nothing while the service is down', async (t) => {
    const { service, ...scene } = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit')
    await service.stop()
    agent.model.script(AGENT.writes(join(scene.root, 'early.txt')))
    await agent.terminal.say('Write it')
    await agent.told(/casefile serve/)
    t.equal(agent.file('early.txt'), null)
  })

  t.test('two at once, each in a worktree', async (t) => {
    const scene = await terminalScene(t, 'claude')
    const folders = [scene.worktree('one'), scene.worktree('two')] as const
    const one = await scene.open('One', { cwd: folders[0] })
    const two = await scene.open('Two', { cwd: folders[1] })
    const [asks] = [await plan(one, 'Raise it.'), await plan(two, 'Raise it.')]
    one.model.script(raise('1', '10', folders[0]), { text: 'Done.' })
    await one.post(asks, 'approve')
    t.match(await one.session({ state: 'complete' }), { diff: { file: 'app.js' } })
    t.match(await two.session({}), { state: 'plan_ready' })

    two.model.script(raise('1', '10', folders[1]))
    await two.terminal.choose('Escape')
    await two.terminal.shows(/Rejected Claude's plan/)
    await two.terminal.say('Do it all the same')
    await two.told(/hook error/)
    t.equal(two.file('app.js'), 'limit = 1\n')
  })

  t.test('with --strict only Casefile approves', async (t) => {
    const scene = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit', { hooks: ['--user', '--strict'] })
    const asked = await plan(agent, 'Raise it to ten.')
    agent.model.script(raise('1', '10', scene.root), { text: 'I may not.' })
    await agent.terminal.choose(...AGENT.approves)
    await agent.terminal.shows(/I may not\./)
    t.equal(agent.file('app.js'), 'limit = 1\n')

    await agent.post(await agent.session({ state: 'plan_ready', id: asked.id }), 'approve')
    agent.model.script(raise('1', '10', scene.root), { text: 'I may.' })
    await agent.terminal.say('Try again')
    await agent.terminal.shows(/Do you want to make this edit/)
    await agent.terminal.choose('1')
    await agent.session({ state: 'complete' })
    t.equal(agent.file('app.js'), 'limit = 10\n')
  })

  t.test('an unbound conversation is let alone until it is adopted', async (t) => {
    const { service, ...scene } = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit', { isBound: false })
    const { model, terminal } = agent
    await terminal.shows(/Casefile: no case is current here/)
    model.script(...AGENT.presents('# Mine\n'), AGENT.writes(join(scene.root, 'mine.txt')))
    await terminal.say('Write it')
    await terminal.shows(AGENT.dialog)
    await terminal.choose('1') // and use auto mode
    await terminal.shows(/Done\./)
    t.equal(agent.file('mine.txt'), 'written\n')
    t.strictSame(await must(service, 'GET', `/cases/${agent.case_id}/sessions`), [])
    const [found] = await must(service, 'GET', '/conversations')
    t.match(found, { agent: 'claude', case_id: null, folder: '.', is_gated: false })

    await must(service, 'POST', `/conversations/${found.id}/adopt`, { case_id: agent.case_id })
    model.script(AGENT.writes(join(scene.root, 'more.txt')))
    await terminal.say('Write more')
    await agent.told(/hook error/)
    t.equal(agent.file('more.txt'), null)
  })

  t.test('the session goes on after /exit and --resume', async (t) => {
    const scene = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit')
    const { id } = await plan(agent, 'Raise it.')
    await agent.terminal.choose('Escape')
    await agent.terminal.shows(/Rejected Claude's plan/)
    await agent.terminal.say('/exit')
    const shown = await agent.terminal.shows(/claude (.*)--resume [\w-]+/)
    const [, resume] = /(--resume [\w-]+)/.exec(shown) ?? []
    const again = await agent.start(`${AGENT_COMMAND} ${resume}`)
    agent.model.script(...AGENT.presents(planOf('Raise it to ten.')))
    await again.say('Go on')
    const session = await agent.session({ state: 'plan_ready', id })
    agent.model.script(raise('1', '10', scene.root), { text: 'Done.' })
    await agent.post(session, 'approve')
    await agent.session({ state: 'complete', id })
  })

  t.test('casefile agent run gates it with nothing installed', async (t) => {
    const scene = await terminalScene(t, 'claude')
    const agent = await scene.open('Limit', {
      hooks: null,
      isBound: false,
      command: (case_id) =>
        `${quoted(process.execPath)} ${quoted(CLI)} run claude --case ${case_id} -- --permission-mode plan`,
    })
    agent.model.script(AGENT.writes(join(scene.root, 'early.txt')))
    const asked = await plan(agent, 'Raise it.')
    t.equal(agent.file('early.txt'), null)
    agent.model.script(raise('1', '10', scene.root), { text: 'Done.' })
    await agent.post(asked, 'approve')
    await agent.session({ state: 'complete' })
    const found = await must(scene.service, 'GET', '/conversations')
    t.match(found, [{ agent: 'claude', is_gated: true }])
    t.equal(found.length, 1)
  })
})
