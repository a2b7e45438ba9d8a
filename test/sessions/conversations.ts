import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { hookedAgent } from '../fixtures/hooks.ts'
import { git, must, type Ref, reaches, stream } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const TEST = '```sh run id=test proof=log\ntest -f done.txt\n```\n'
const PLAN = `# Raise the limit\n\n1. Raise it to ten.\n\n${TEST}`

async function opened(t: Test, options = {}) {
  const app = await openTestService(t, options)
  writeFileSync(join(app.root, 'limit.js'), 'limit = 1\n')
  git(app.root, 'init', '--quiet')
  git(app.root, 'add', 'limit.js')
  git(app.root, '-c', 'user.name=Ada', '-c', 'user.email=a@b', 'commit', '-qm', 'first')
  const { id: case_id } = await app.newCase({ title: 'Raise the limit' })
  return { app, case_id }
}

async function sessionsOf(app: TestService, case_id: string) {
  return must(app, 'GET', `/cases/${case_id}/sessions`)
}

/** The session with this number, once it is in a state. */
async function inState(
  app: TestService,
  case_id: string,
  state: string,
  number = 1,
): Promise<Ref & { origin: string }> {
  for (;;) {
    const all: (Ref & { number: number; state: string })[] = await sessionsOf(app, case_id)
    const found = all.find((session) => session.number === number && session.state === state)
    if (found) return { ...found, path: `/cases/${case_id}/sessions/${found.id}` } as never
    await delay(20)
  }
}

/** A hook still waits when the service of the test ends. */
const isCut = () => {}

async function trailOf(app: TestService, { case_id }: Ref, number = 1): Promise<string> {
  return readFileSync(app.file(case_id, 'sessions', `${number}.md`), 'utf8')
}

t.test('a plan waits, is sent back, is approved here, and is proved before the end', async (t) => {
  const { app, case_id } = await opened(t)
  const transcript = join(app.root, '..', 'transcript.jsonl')
  const usage = { input_tokens: 100, output_tokens: 7 }
  const line = { type: 'assistant', message: { id: 'a', model: 'opus', usage } }
  writeFileSync(transcript, `${JSON.stringify(line)}\n`)
  const agent = hookedAgent(app, { case_id, transcript })
  const said = await agent.tell('SessionStart', { source: 'startup', model: 'opus' })
  t.match(said.hookSpecificOutput.additionalContext, /Raise the limit/, 'it is told its case')
  t.match(
    said.systemMessage,
    'Casefile records this as "Raise the limit"; nothing may change before you approve a plan.',
  )
  t.equal((await sessionsOf(app, case_id)).length, 0, 'nothing to record yet')
  await agent.tell('UserPromptSubmit', { prompt: 'Raise the limit' })

  const file = join(app.root, 'limit.js')
  const write = ['Write', { file_path: file, content: 'limit = 10\n' }] as const
  t.match(await agent.call(...write), /no approved plan.*ExitPlanMode/)
  t.equal(await agent.call('Read', { file_path: file }), null, 'reading is free')
  t.equal(await agent.call('Bash', { command: 'git log | head' }), null)
  t.match(await agent.call('Bash', { command: 'npm install' }), /only commands that read/)

  const first = agent.present(PLAN)
  const session = await inState(app, case_id, 'plan_ready')
  t.match(session, { origin: 'terminal', provider: 'claude', state: 'plan_ready' })
  t.match(await agent.call('Bash', { command: 'npm i' }, { agent_id: 'sub' }), /waits for/)
  await must(app, 'POST', `${session.path}/revise`, { note: 'Say which test.' })
  t.match(await first, { behavior: 'deny', message: /Say which test\./ })

  const second = agent.present(`${PLAN}\nAnd that is all.\n`)
  await inState(app, case_id, 'plan_ready')
  await must(app, 'POST', `${session.path}/approve`)
  const { behavior, updatedInput } = await second
  t.strictSame([behavior, updatedInput?.plan], ['allow', `${PLAN}\nAnd that is all.\n`])
  await reaches(app, session, 'executing')
  t.equal(await agent.call(...write), null)
  await agent.tell('PostToolUse', { tool_name: 'Write', tool_input: write[1] })

  const red = await agent.tell('Stop', { stop_hook_active: false })
  t.match(red, { decision: 'block', reason: /step test exited with 1/ })
  t.equal(await agent.tell('Stop', { stop_hook_active: true }), null, 'never twice')
  t.equal((await must(app, 'GET', session.path)).state, 'executing')
  writeFileSync(join(app.root, 'done.txt'), 'x')
  t.match(await agent.tell('Stop', { stop_hook_active: false }), {
    systemMessage: `Casefile: recorded as session 1: complete, done.txt changed (+1 -0). ${app.url}/case/${case_id}/session/1`,
  })
  const done = await must(app, 'GET', session.path)
  t.match(done, { state: 'complete', diff: { file: 'done.txt' } }, 'at the answer of the stop')
  t.match(done.output, /^\$ step test\n\[exit 0/, 'the last run of the step counts')

  const trail = await trailOf(app, session)
  t.match(trail, /^origin: terminal$/m)
  t.match(trail, /plan_approved by=\S.* via=api plan_sha256=/)
  t.match(trail, /tool_call tool=Write title=limit\.js .*input_sha256=[0-9a-f]{64}/)
  t.match(trail, /denied tool=Bash title="npm install"/)
  t.notMatch(trail, /limit = 10/, 'no input is recorded')
  t.match(trail, /agent_transcript path=\S*transcript\.jsonl sha256=[0-9a-f]{64}/)
  t.match(done.usage_total, { output_tokens: 7 }, 'counted once')
})

t.test('an agent in a terminal begins after the tests before its work', async (t) => {
  const { app, case_id } = await opened(t)
  const go = join(app.root, 'go')
  const script = `echo 1..1
while [ ! -e '${go}' ]; do sleep 0.1; done
if grep -q 10 limit.js; then echo ok 1 - limit; else echo not ok 1 - limit; exit 1; fi`
  const plan = `1. Raise it.\n\n\`\`\`sh run id=test proof=tap baseline\n${script}\n\`\`\`\n`
  const agent = hookedAgent(app, { case_id })
  let isAnswered = false
  const asked = agent.present(plan).finally(() => {
    isAnswered = true
  })
  const session = await inState(app, case_id, 'plan_ready')
  await must(app, 'POST', `${session.path}/approve`)
  await reaches(app, session, 'executing')
  const write = ['Write', { file_path: join(app.root, 'limit.js'), content: 'x' }] as const
  t.match(
    await agent.call(...write),
    /records how the working folder and the tests are before the first/,
  )
  t.equal(await agent.call('Read', { file_path: join(app.root, 'limit.js') }), null)
  t.notOk(isAnswered, 'it is not let go yet')
  writeFileSync(go, '')
  t.match(await asked, { behavior: 'allow' })
  t.equal(await agent.call(...write), null)
  writeFileSync(join(app.root, 'limit.js'), 'limit = 10\n')
  const { systemMessage } = await agent.tell('Stop', { stop_hook_active: false })
  t.match(systemMessage, /session 1: complete, limit\.js changed \(\+1 -1\), 1 of 1 tests passed/)
  const done = await must(app, 'GET', session.path)
  t.match(done, {
    state: 'complete',
    tests: { run: 1, failed: 0 },
    tests_before: { run: 1, failed: 1, compared: { fixed: 1, names: { fixed: ['limit'] } } },
    base: { uncommitted: 0, branch: /./ },
  })
})

t.test('the hypothesis that a plan states is that of the session', async (t) => {
  const { app, case_id } = await opened(t)
  const agent = hookedAgent(app, { case_id })
  const text = (hypothesis: string) =>
    `# Raise the limit\n\nRead first.\n\n## Hypothesis\n\n${hypothesis}\n\n## Plan\n\n1. Raise it.\n\n${TEST}`
  agent.present(text('It is too low.')).catch(isCut)
  const session = await inState(app, case_id, 'plan_ready')
  const planned = await must(app, 'GET', session.path)
  t.equal(planned.hypothesis, 'It is too low.')
  const rest = `# Raise the limit\n\nRead first.\n\n1. Raise it.\n\n${TEST}`
  t.equal(planned.plan, rest.trim(), 'what stands before it is a part of what is approved')
  await must(app, 'POST', `${session.path}/revise`, { note: 'Why?' })
  const again = agent.present(text('Nobody needs one.'))
  await inState(app, case_id, 'plan_ready')
  t.equal((await must(app, 'GET', session.path)).hypothesis, 'Nobody needs one.')
  await must(app, 'POST', `${session.path}/approve`)
  const { updatedInput } = await again
  t.equal(updatedInput?.plan, text('Nobody needs one.'), "the agent's own text comes back")
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test('an agent is told what the case requires, and what was found and tried', async (t) => {
  const { app } = await opened(t)
  const { id: case_id } = await app.newCase({
    title: 'Limit',
    description: 'It is too low.',
    checklist: [{ description: 'The tests pass', type: 'test-log', required: true }],
  })
  writeFileSync(app.file(case_id, 'findings.md'), 'The limit is read in app.js.\n')
  writeFileSync(app.file(case_id, 'long.md'), 'much '.repeat(4000))
  const first = hookedAgent(app, { case_id })
  first.present(PLAN).catch(isCut)
  const session = await inState(app, case_id, 'plan_ready')
  await must(app, 'POST', `${session.path}/abandon`, { reason: 'It misses the cause.' })
  const said = await hookedAgent(app, { case_id, session: 'second' }).tell('SessionStart')
  const { additionalContext } = said.hookSpecificOutput
  t.match(additionalContext, /## Hypothesis/, 'it is asked for a hypothesis')
  t.match(additionalContext, /The tests pass \(test-log, required\)/)
  t.match(additionalContext, /findings\.md[\s\S]*The limit is read in app\.js/)
  t.match(additionalContext, /Earlier session 1[\s\S]*abandoned[\s\S]*It misses the cause/)
  t.match(additionalContext, /Cut or left out here for length: .*long\.md.* files are in /)
  t.ok(additionalContext.length <= 10_000, 'no more than Claude Code takes')
})

t.test('an answer in the dialog of the agent counts', async (t) => {
  const { app, case_id } = await opened(t)

  await t.test('an approval, with the text that was approved there', async (t) => {
    const agent = hookedAgent(app, { case_id })
    const asked = agent.present(PLAN)
    const session = await inState(app, case_id, 'plan_ready')
    const plan = `${PLAN}\nEdited there.\n`
    await agent.tell('PostToolUse', { tool_name: 'ExitPlanMode', tool_response: { plan } })
    t.strictSame(await asked, {}, 'the hook that waits is let go')
    const { state, plan: approved } = await must(app, 'GET', session.path)
    t.match(state, /approved|executing/)
    t.match(approved, /Edited there/)
    t.match(await trailOf(app, session), /plan_approved by=\S.* via=agent plan_sha256=/)
    await must(app, 'POST', `${session.path}/abandon`)
  })

  await t.test('not of a plan that was never presented', async (t) => {
    const agent = hookedAgent(app, { case_id, session: 'forged' })
    await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
    await agent.tell('PostToolUse', { tool_name: 'ExitPlanMode', tool_response: { plan: PLAN } })
    const session = await inState(app, case_id, 'planning', 2)
    t.equal((await must(app, 'GET', session.path)).plan, '')
    await must(app, 'POST', `${session.path}/abandon`)
  })

  await t.test('not where only Casefile counts', async (t) => {
    const headers = { 'x-casefile-strict': '1' }
    const agent = hookedAgent(app, { case_id, session: 'strict', headers })
    const asked = agent.present(PLAN)
    const session = await inState(app, case_id, 'plan_ready', 3)
    await agent.tell('PostToolUse', { tool_name: 'ExitPlanMode', tool_response: { plan: PLAN } })
    await asked
    t.equal((await must(app, 'GET', session.path)).state, 'plan_ready')
    const write = { file_path: join(app.root, 'a.js') }
    t.match(await agent.call('Write', write, { agent_id: 'sub' }), /waits for the operator/)
    await must(app, 'POST', `${session.path}/approve`)
    await reaches(app, session, 'executing')
    t.equal(await agent.call('Write', write), null)
    await must(app, 'POST', `${session.path}/abandon`)
  })

  await t.test('changes asked for there take the plan back here', async (t) => {
    const agent = hookedAgent(app, { case_id, session: 'changes' })
    const asked = agent.present(PLAN)
    const session = await inState(app, case_id, 'plan_ready', 4)
    await agent.tell('Stop', { stop_hook_active: false })
    t.strictSame(await asked, {})
    t.equal((await must(app, 'GET', session.path)).state, 'planning')
    const reply = await app.request('POST', `${session.path}/approve`)
    t.equal(reply.status, 422, 'it can no longer be approved')
    await must(app, 'POST', `${session.path}/abandon`)
  })
})

t.test(
  'its person is told that a plan waits, before the dialog of the agent hides notices',
  async (t) => {
    const { app, case_id } = await opened(t)
    const agent = hookedAgent(app, { case_id })
    const planFile = { file_path: '/home/ada/.claude/plans/limit.md' }
    const writesPlan = () => agent.tell('PreToolUse', { tool_name: 'Write', tool_input: planFile })
    t.match(await writesPlan(), {
      systemMessage: /plan waits for your approval here, at .*casefile approve/,
    })
    t.equal(await writesPlan(), null, 'once for a plan')
    agent.present(PLAN).catch(isCut)
    const session = await inState(app, case_id, 'plan_ready')
    await must(app, 'POST', `${session.path}/revise`, { note: 'No.' })
    t.match(await writesPlan(), { systemMessage: /plan waits/ }, 'again for another plan')
  },
)

t.test('comments and a note reach the agent with the answer to its plan', async (t) => {
  const { app, case_id } = await opened(t)
  const agent = hookedAgent(app, { case_id })
  const first = agent.present(PLAN)
  const session = await inState(app, case_id, 'plan_ready')
  const comments = `${session.path}/comments`
  const one = await must(app, 'POST', comments, { text: 'Which test?', line: 1 })
  await must(app, 'POST', `${session.path}/revise`)
  const { behavior, message } = await first
  t.equal(behavior, 'deny')
  t.match(message, new RegExp(`On line 1:[\\s\\S]*Which test\\?[\\s\\S]*comment ${one.id}`))

  const second = agent.present(`${PLAN}\nAnd that is all.\n`)
  await inState(app, case_id, 'plan_ready')
  const two = await must(app, 'POST', comments, { text: 'Keep the name.' })
  await must(app, 'POST', `${session.path}/approve`, { note: 'Careful.' })
  const { behavior: allowed, updatedInput } = await second
  t.equal(allowed, 'allow')
  t.match(updatedInput?.plan, /And that is all\.[\s\S]*Notes of the operator[\s\S]*Careful\./)
  t.match(updatedInput?.plan, new RegExp(`Keep the name\\.[\\s\\S]*comment ${two.id}`))
  const { plan } = await must(app, 'GET', session.path)
  t.notMatch(plan, /Careful/, 'the approved plan itself is what it was')
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test('with --strict, Codex gets the notes with its prompt', async (t) => {
  const { app, case_id } = await opened(t)
  const transcript = join(app.root, '..', 'rollout-notes.jsonl')
  const payload = { type: 'item_completed', turn_id: 'turn-1', item: { type: 'Plan', text: PLAN } }
  writeFileSync(transcript, `${JSON.stringify({ type: 'event_msg', payload })}\n`)
  const headers = { 'x-casefile-strict': '1' }
  const agent = hookedAgent(app, { agent: 'codex', transcript, case_id, headers })
  await agent.tell('Stop', { turn_id: 'turn-1' })
  const session = await inState(app, case_id, 'plan_ready')
  const waits = agent.tell('UserPromptSubmit', { prompt: 'Implement the plan.', turn_id: 'turn-2' })
  await must(app, 'POST', `${session.path}/approve`, { note: 'Careful.' })
  const said = await waits
  t.match(said.hookSpecificOutput.additionalContext, /Notes of the operator[\s\S]*Careful\./)
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test(
  'a reply from a process of the agent has the name of its provider',
  {
    skip: !existsSync('/proc/self'),
  },
  async (t) => {
    const { app, case_id } = await opened(t)
    const agent = hookedAgent(app, { case_id, headers: { 'x-casefile-pid': `${process.pid}` } })
    agent.present(PLAN).catch(isCut)
    const session = await inState(app, case_id, 'plan_ready')
    const comments = `${session.path}/comments`
    const { id } = await must(app, 'POST', comments, { text: 'Why?' })
    const send = async (path: string, body: object) => {
      const options = {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'casefile-actor': 'Ada' },
        body: JSON.stringify(body),
      }
      const script = `fetch('${app.url}${path}', ${JSON.stringify(options)}).then(async (r) => console.log(r.status, await r.text()))`
      return (await promisify(execFile)(process.execPath, ['--eval', script])).stdout
    }
    t.match(await send(`${comments}/${id}/replies`, { text: 'Because.' }), /^201 /)
    t.match(await must(app, 'GET', comments), [
      { replies: [{ author: 'claude', text: 'Because.' }] },
    ])
    t.match(await send(comments, { text: 'Mine.' }), /^403 .*own_session/)
  },
)

t.test('an abandoned plan is told to the agent', async (t) => {
  const { app, case_id } = await opened(t)
  const agent = hookedAgent(app, { case_id })
  const asked = agent.present(PLAN)
  const session = await inState(app, case_id, 'plan_ready')
  await must(app, 'POST', `${session.path}/abandon`, { reason: 'Not now.' })
  t.match(await asked, { behavior: 'deny', message: /abandoned.*Not now\./ })
  t.match(await agent.call('Write', { file_path: 'x' }), /nothing may be changed/)
  t.equal((await sessionsOf(app, case_id)).length, 1, 'its calls begin no other session')
})

t.test('a case that is deleted opens nothing', async (t) => {
  const { app, case_id } = await opened(t)
  const agent = hookedAgent(app, { case_id })
  agent.present(PLAN).catch(isCut)
  await inState(app, case_id, 'plan_ready')
  await must(app, 'DELETE', `/cases/${case_id}`)
  const write = () => agent.call('Write', { file_path: 'x' })
  t.match(await write(), /case of this conversation was deleted/)
  t.match(await agent.present(PLAN), { behavior: 'deny', message: /was deleted/ })
  const said = await agent.tell('UserPromptSubmit', { prompt: 'Something else' })
  t.match(said.systemMessage, /was deleted\. Choose one with casefile use/)
  t.match(await write(), /Nothing may be changed/, 'nor with the next prompt')
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })
  t.equal(await write(), null, 'the person has chosen to go on without')
})

t.test('a case that is resolved stays until the person chooses another', async (t) => {
  const { app, case_id } = await opened(t)
  const agent = hookedAgent(app, { case_id })
  const prompt = () => agent.tell('UserPromptSubmit', { prompt: 'Now the other limit' })
  const write = () => agent.call('Write', { file_path: join(app.root, 'limit.js') })
  const conversation = async () => (await must(app, 'GET', '/conversations'))[0]
  agent.present(PLAN).catch(isCut)
  const session = await inState(app, case_id, 'plan_ready')
  await must(app, 'POST', `${session.path}/abandon`)
  const state = { state: 'WONT_FIX', outcome: 'NotNeeded', reason: 'Not needed.' }
  await must(app, 'PUT', `/cases/${case_id}/state`, state)

  const over = /The case "Raise the limit" is WONT_FIX\..*casefile use <case> or casefile adopt/
  const said = await prompt()
  t.match(said, { systemMessage: over, hookSpecificOutput: { additionalContext: over } })
  t.match(await write(), over)
  t.equal(await agent.call('Read', { file_path: 'limit.js' }), null)
  t.equal(await agent.call('Bash', { command: 'git status' }), null)
  t.match(await agent.call('Bash', { command: 'npm install' }), over)
  t.equal(await agent.tell('Stop'), null)
  t.match(await conversation(), { case_id, is_gated: true, needs_case: true })
  t.equal((await sessionsOf(app, case_id)).length, 1, 'a closed case has no more sessions')

  const { id: next } = await app.newCase({ title: 'The other limit' })
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: next })
  t.match(await conversation(), { case_id: next, needs_case: false })
  const bound = await prompt()
  t.match(bound.systemMessage, /records this as "The other limit"; nothing may change/)
  t.match(bound.hookSpecificOutput.additionalContext, /The other limit/)
  t.equal(await prompt(), null, 'it is told once')
  t.match(await write(), /The other limit.*no approved plan/)
  t.equal((await sessionsOf(app, next)).length, 1)

  await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })
  t.match(await conversation(), { case_id: next }, 'an open case is left only by its end')
  await must(app, 'POST', `/cases/${next}/sessions/${(await sessionsOf(app, next))[0].id}/abandon`)
  await must(app, 'PUT', `/cases/${next}/state`, state)
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })
  t.match(await conversation(), { case_id: null, is_gated: false, needs_case: false })
  t.equal(await write(), null)
})

t.test('a case that is deleted while its plan waits lets the hook go', async (t) => {
  const { app, case_id } = await opened(t)
  const asked = hookedAgent(app, { case_id }).present(PLAN)
  await inState(app, case_id, 'plan_ready')
  await must(app, 'DELETE', `/cases/${case_id}`)
  t.strictSame(await asked, {})
})

t.test('which case', async (t) => {
  const { app, case_id } = await opened(t)
  const boundTo = async (session: string) => {
    const all = await must(app, 'GET', '/conversations')
    return all.find((each: { agent_session: string }) => each.agent_session === session)
  }

  await t.test('the case that the environment names, before all', async (t) => {
    await hookedAgent(app, { case_id: case_id.slice(0, 8), session: 'named' }).tell('SessionStart')
    t.match(await boundTo('named'), { case_id, is_gated: false })
  })

  await t.test('none, if the environment names one that is not there', async (t) => {
    await must(app, 'PUT', '/current-case', { folder: '.', case_id })
    const agent = hookedAgent(app, { case_id: 'signin', session: 'wrong' })
    t.match(await agent.tell('SessionStart'), { systemMessage: /CASEFILE_CASE names no open case/ })
    t.match(await boundTo('wrong'), { case_id: null })
    await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })
  })

  await t.test('none: it is only listed, until it is adopted', async (t) => {
    const agent = hookedAgent(app, { session: 'unbound' })
    t.strictSame(
      await agent.tell('SessionStart'),
      {
        systemMessage:
          'Casefile: no case is current here, so nothing is recorded or held back. Before your next prompt: casefile use <case>',
      },
      'its person is told, and the agent nothing',
    )
    t.equal(await agent.tell('UserPromptSubmit', { prompt: 'Do it' }), null)
    t.equal(await agent.call('Write', { file_path: join(app.root, 'a') }), null)
    t.equal(await agent.tell('Stop'), null)
    const unbound = await boundTo('unbound')
    t.match(unbound, { case_id: null, folder: '.', tool_calls: 1 })
    t.equal((await sessionsOf(app, case_id)).length, 0)
    await must(app, 'POST', `/conversations/${unbound.id}/adopt`, { case_id })
    t.match(await agent.call('Write', { file_path: join(app.root, 'a') }), /no approved plan/)
    t.equal((await sessionsOf(app, case_id)).length, 1)
  })

  await t.test('the current case of the working tree', async (t) => {
    const other = join(app.root, '..', 'tree')
    git(app.root, 'worktree', 'add', '--quiet', '--detach', other)
    await must(app, 'PUT', '/current-case', { folder: other, case_id })
    await hookedAgent(app, { session: 'tree', cwd: other }).tell('SessionStart')
    t.match(await boundTo('tree'), { case_id, folder: other })
  })

  await t.test('the case that the branch names', async (t) => {
    git(app.root, 'checkout', '--quiet', '-b', `fix/${case_id.slice(0, 8)}-limit`)
    await hookedAgent(app, { session: 'branch' }).tell('SessionStart')
    t.match(await boundTo('branch'), { case_id, branch: /limit/ })
  })

  await t.test('a folder elsewhere is not listed', async (t) => {
    t.equal(await hookedAgent(app, { session: 'else', cwd: '/' }).tell('SessionStart'), null)
    t.equal(await boundTo('else'), undefined)
  })
})

t.test('a service that was killed while a plan waited goes on with it', async (t) => {
  const { app, case_id } = await opened(t)
  const agent = hookedAgent(app, { case_id })
  const lost = agent.present(PLAN).catch(String)
  const session = await inState(app, case_id, 'plan_ready')
  await app.restart()
  t.match(await lost, /503|ECONNRESET|socket/, 'the hook is not answered, and asks again')
  const again = agent.present(PLAN)
  await must(app, 'POST', `${session.path}/approve`)
  t.match(await again, { behavior: 'allow' })
  t.equal((await sessionsOf(app, case_id)).length, 1)
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test('a conversation that ends', async (t) => {
  const { app, case_id } = await opened(t, { limits: { resume: 50 } })
  const agent = hookedAgent(app, { case_id })
  await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
  await agent.tell('SessionEnd', { reason: 'prompt_input_exit' })
  const session = await inState(app, case_id, 'abandoned')
  t.match(await trailOf(app, session), /ended before it presented a plan/)

  const other = hookedAgent(app, { case_id, session: 'other' })
  other.present(PLAN).catch(isCut)
  const second = await inState(app, case_id, 'plan_ready', 2)
  await must(app, 'POST', `${second.path}/approve`)
  await reaches(app, second, 'executing')
  await other.tell('SessionEnd', { reason: 'other' })
  await reaches(app, second, 'failed')
  t.match((await must(app, 'GET', second.path)).output, /ended, and step test exited with 1/)
})

t.test('a conversation that is resumed late, while its plan waits', async (t) => {
  const { app, case_id } = await opened(t, { limits: { resume: 10 } })
  const agent = hookedAgent(app, { case_id })
  agent.present(PLAN).catch(isCut)
  const session = await inState(app, case_id, 'plan_ready')
  await agent.tell('SessionEnd', { reason: 'other' })
  await delay(100)
  await agent.tell('SessionStart', { source: 'resume' })
  const again = agent.present(PLAN)
  await must(app, 'POST', `${session.path}/approve`)
  t.match(await again, { behavior: 'allow' })
  await reaches(app, session, 'executing')
  await delay(200)
  t.equal((await must(app, 'GET', session.path)).state, 'executing', 'it works on')
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test('a plan is approved whose conversation ended before a restart', async (t) => {
  const { app, case_id } = await opened(t, { limits: { resume: 300 } })
  const agent = hookedAgent(app, { case_id })
  agent.present(PLAN).catch(isCut)
  const session = await inState(app, case_id, 'plan_ready')
  await agent.tell('SessionEnd', { reason: 'other' })
  await app.restart()
  await must(app, 'POST', `${session.path}/approve`)
  await reaches(app, session, 'failed')
  t.match((await must(app, 'GET', session.path)).output, /the conversation with the agent ended/)
})

t.test(
  'what changed before the approval is in the evidence, and proof needs a reason',
  async (t) => {
    const { app, case_id } = await opened(t)
    const agent = hookedAgent(app, { case_id })
    await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
    writeFileSync(join(app.root, 'early.js'), 'x\n')
    const asked = agent.present(PLAN)
    const session = await inState(app, case_id, 'plan_ready')
    t.match(await trailOf(app, session), /plan_violation working_folder=\["early\.js"\]/)
    const plan_violation = { files: ['early.js'] }
    t.match(await must(app, 'GET', session.path), { plan_violation }, 'before it is approved')
    const html = (await app.request('GET', `/case/${case_id}/session/1`)).text
    t.ok(html.indexOf('id="early-changes"') < html.indexOf('id="plan"'), 'above the plan')
    await must(app, 'POST', `${session.path}/approve`)
    await asked
    t.equal(await agent.call('Write', { file_path: join(app.root, 'done.txt') }), null)
    writeFileSync(join(app.root, 'done.txt'), 'y\n')
    await agent.tell('Stop', { stop_hook_active: false })

    const done = await must(app, 'GET', session.path)
    t.match(done, { state: 'complete', plan_violation })
    t.match(done.candidates, [{ why_not: /early\.js, so it counts only with a reason$/ }])
    const changed = done.diff.files.map(({ file }: { file: string }) => file)
    t.strictSame(changed.sort(), ['done.txt', 'early.js'])
    const patch = done.candidates.find(({ artifact }: { artifact: string }) =>
      /patch$/.test(artifact),
    )
    t.match(patch.note, /^2 files: \+2 -0, with what changed before the plan was approved$/)
    t.match(await trailOf(app, session), /diff_taken .*files=2 from_start=true/)
    const proof = await must(app, 'POST', `/cases/${case_id}/proof`, {
      type: 'diff',
      artifact: patch.artifact,
    })
    const verified = `/cases/${case_id}/proof/${proof.id}/verify`
    await must(app, 'PUT', verified)
    const gate = () => must(app, 'GET', `/cases/${case_id}/gate`)
    t.match(await gate(), {
      open: false,
      objections: [
        { code: 'plan_violation', reason: /1 file changed before the plan .*: early\.js/ },
      ],
    })
    await must(app, 'PUT', verified, { accept: 'I wrote early.js.' })
    t.match(await gate(), { open: true })
  },
)

t.test('an agent cannot approve its own plan', { skip: !existsSync('/proc/self') }, async (t) => {
  const { app, case_id } = await opened(t)
  const agent = hookedAgent(app, { case_id, headers: { 'x-casefile-pid': `${process.pid}` } })
  agent.present(PLAN).catch(isCut)
  const session = await inState(app, case_id, 'plan_ready')
  const script = `fetch('${app.url}${session.path}/approve', { method: 'POST' }).then(async (r) => console.log(r.status, await r.text()))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script])
  t.match(stdout, /^403 .*own_session/)
  t.equal((await must(app, 'GET', session.path)).state, 'plan_ready')
})

t.test('work outside the scope of the plan is denied', async (t) => {
  const { app, case_id } = await opened(t)
  const agent = hookedAgent(app, { case_id })
  agent.present(`${PLAN}\n## Scope\n\n- paths: limit.js\n- commands: npm test\n`).catch(isCut)
  const session = await inState(app, case_id, 'plan_ready')
  await must(app, 'POST', `${session.path}/approve`)
  const write = (name: string) => agent.call('Write', { file_path: join(app.root, name) })
  t.equal(await write('limit.js'), null)
  t.match(await write('other.js'), /other\.js.*outside the scope of the plan/)
  t.equal(await agent.call('Bash', { command: 'npm test' }), null)
  t.match(await agent.call('Bash', { command: 'npm publish' }), /outside the scope/)
  t.equal(await agent.call('Read', { file_path: '/etc/hostname' }), null)
  const events = await stream(app, session)
  await events.next(({ event }) => event === 'denied')
  events.close()
  t.match(await trailOf(app, session), /denied tool=Write title=other\.js/)
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test('a plan that Codex wrote is read when its turn ends', async (t) => {
  const { app, case_id } = await opened(t)
  const transcript = join(app.root, '..', 'rollout.jsonl')
  const item = (turn_id: string, text: string) => {
    const payload = { type: 'item_completed', turn_id, item: { type: 'Plan', id: 'x', text } }
    return `${JSON.stringify({ type: 'event_msg', payload })}\n`
  }
  writeFileSync(
    transcript,
    item('turn-0', 'Old.') + item('turn-1', 'First.') + item('turn-1', PLAN),
  )
  await must(app, 'PUT', '/current-case', { folder: '.', case_id })
  const agent = hookedAgent(app, { agent: 'codex', transcript })
  await agent.tell('UserPromptSubmit', { prompt: 'Raise the limit', turn_id: 'turn-1' })
  t.match(
    await agent.tell('Stop', { turn_id: 'turn-1' }),
    { systemMessage: /the plan waits for your approval here, at http.*, or by: casefile approve/ },
    'its own question comes at once',
  )
  const session = await inState(app, case_id, 'plan_ready')
  t.match((await must(app, 'GET', session.path)).plan, 'Raise it to ten.')
  const patch = { command: '*** Begin Patch\n*** Update File: limit.js\n*** End Patch' }
  t.match(await agent.call('apply_patch', patch), /waits for the operator/)
  await agent.tell('UserPromptSubmit', { prompt: 'Implement the plan.', turn_id: 'turn-2' })
  t.match(await trailOf(app, session), /plan_approved by=\S.* via=agent plan_sha256=/)
  t.equal(await agent.call('apply_patch', patch), null)
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test('a plan of Codex that was carried out is not asked about again', async (t) => {
  const { app, case_id } = await opened(t)
  const transcript = join(app.root, '..', 'rollout-done.jsonl')
  const item = { type: 'Plan', text: '1. Raise it.\n' }
  const payload = { type: 'item_completed', turn_id: 'turn-1', item }
  writeFileSync(transcript, `${JSON.stringify({ type: 'event_msg', payload })}\n`)
  const agent = hookedAgent(app, { agent: 'codex', transcript, case_id })
  const implement = () => agent.tell('UserPromptSubmit', { prompt: 'Implement the plan.' })
  await agent.tell('Stop', { turn_id: 'turn-1' })
  const session = await inState(app, case_id, 'plan_ready')
  await implement()
  await reaches(app, session, 'executing')
  await agent.tell('Stop', { turn_id: 'turn-2' })
  await reaches(app, session, 'complete')
  const over = /Session 1 has carried out its plan, and is complete\. More changes need a plan/
  const said = await implement()
  t.match(said, { systemMessage: over, hookSpecificOutput: { additionalContext: over } })
  t.match(await agent.call('apply_patch', { command: '*** Begin Patch' }), over)
  t.equal((await sessionsOf(app, case_id)).length, 1)
})

t.test('with --strict, the prompt of Codex that implements the plan waits', async (t) => {
  const { app, case_id } = await opened(t)
  const transcript = join(app.root, '..', 'rollout.jsonl')
  const payload = { type: 'item_completed', turn_id: 'turn-1', item: { type: 'Plan', text: PLAN } }
  writeFileSync(transcript, `${JSON.stringify({ type: 'event_msg', payload })}\n`)
  const headers = { 'x-casefile-strict': '1' }
  const agent = hookedAgent(app, { agent: 'codex', transcript, case_id, headers })
  await agent.tell('Stop', { turn_id: 'turn-1' })
  const session = await inState(app, case_id, 'plan_ready')
  const prompt = { prompt: 'Implement the plan.', turn_id: 'turn-2' }
  const waits = agent.tell('UserPromptSubmit', prompt)
  await must(app, 'PUT', `${session.path}/plan`, { plan: `${PLAN}\nMine.\n` })
  await must(app, 'POST', `${session.path}/approve`)
  const said = await waits
  t.match(said.hookSpecificOutput.additionalContext, /changed the plan.*Mine\./s)
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test('a plan that is handed in by MCP has a session of its own', async (t) => {
  const { app, case_id } = await opened(t)
  const path = `/cases/${case_id}/proposed-plans`
  const proposal = { agent: 'other', cwd: '.', pid: 4_194_303, plan: PLAN }
  const first = await must(app, 'POST', path, { ...proposal, hypothesis: 'It is too low.' })
  t.match(first, { state: 'plan_ready', origin: 'terminal', hypothesis: 'It is too low.' })
  const again = await must(app, 'POST', path, { ...proposal, plan: `${PLAN}\nAgain.\n` })
  t.match(again, { id: first.id, plan: /Again\./, hypothesis: 'It is too low.' })
  const wrong = { ...proposal, plan: '```sh run bogus=1\n```\n' }
  t.equal((await app.request('POST', path, wrong)).status, 422)
  await must(app, 'POST', `/cases/${case_id}/sessions/${first.id}/approve`)
  t.equal((await app.request('POST', path, proposal)).status, 422, 'an approved one is carried out')
  await must(app, 'POST', `/cases/${case_id}/sessions/${first.id}/abandon`)
})
