import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { usageTotal } from '../../src/model/usage.ts'
import { inLongLane } from '../fixtures/full.ts'
import { hookedAgent } from '../fixtures/hooks.ts'
import { git, must, type Ref, reaches, stream } from '../fixtures/session-client.ts'
import { recordOf, until } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

const TEST = '```sh run id=test proof=log\ntest -f done.txt\n```\n'
const PLAN = `# Raise the limit\n\n1. Raise it to ten.\n\n${TEST}`
const hasProc = { skip: existsSync('/proc/self') ? false : 'needs /proc' }

const app = await openTestService(t, { limits: { resume: 50 } })
writeFileSync(join(app.root, 'limit.js'), 'limit = 1\n')
git(app.root, 'init', '--quiet')
git(app.root, 'add', 'limit.js')
git(app.root, 'commit', '-qm', 'first')

const newCase = async (title = 'Raise the limit'): Promise<string> =>
  (await app.newCase({ title })).id

const sessionsOf = (case_id: string) => must(app, 'GET', `/cases/${case_id}/sessions`)

/** The session with this number, once it is in a state. */
async function inState(
  case_id: string,
  state: string,
  number = 1,
): Promise<Ref & { origin: string }> {
  for (;;) {
    const reached = new Promise<void>((resolve) => {
      const stop = app.service.eventLog.subscribe(({ envelope }) => {
        if (!envelope.includes(`"new_state":"${state}"`)) return
        stop()
        resolve()
      })
    })
    const all = await sessionsOf(case_id)
    const found = all.find(
      (each: { number: number; state: string }) => each.number === number && each.state === state,
    )
    if (found) return { ...found, path: `/cases/${case_id}/sessions/${found.id}` }
    await reached
  }
}

/** A hook still waits when the service of the test ends. */
const isCut = () => {}

t.test('a plan waits, is sent back, is approved here, and is proved before the end', async (t) => {
  const case_id = await newCase()
  const transcript = join(app.root, '..', 'transcript.jsonl')
  const usage = { input_tokens: 100, output_tokens: 7 }
  const line = { type: 'assistant', message: { id: 'a', model: 'opus', usage } }
  writeFileSync(transcript, `${JSON.stringify(line)}\n`)
  const agent = hookedAgent(app, { case_id, transcript })
  const said = await agent.tell('SessionStart', { source: 'startup', model: 'opus' })
  t.match(said.hookSpecificOutput.additionalContext, /Raise the limit/, 'it is told its case')
  t.match(
    said.systemMessage,
    'Casefile records this as "Raise the limit"; nothing may change before you approve what it wants to do.',
  )
  t.equal((await sessionsOf(case_id)).length, 0, 'nothing to record yet')
  await agent.tell('UserPromptSubmit', { prompt: 'Raise the limit' })

  const file = join(app.root, 'limit.js')
  const write = ['Write', { file_path: file, content: 'limit = 10\n' }] as const
  t.match(await agent.call(...write), /no approved plan.*ExitPlanMode/)
  t.equal(await agent.call('Read', { file_path: file }), null, 'reading is free')
  t.equal(await agent.call('Bash', { command: 'git log | head' }), null)
  t.match(await agent.call('Bash', { command: 'npm install' }), /only commands that read/)

  const first = agent.present(PLAN)
  const session = await inState(case_id, 'plan_ready')
  t.match(session, { origin: 'terminal', provider: 'claude', state: 'plan_ready' })
  t.match(await agent.call('Bash', { command: 'npm i' }, { agent_id: 'sub' }), /waits for/)
  const comments = `${session.path}/comments`
  const one = await must(app, 'POST', comments, { text: 'Which test?', line: 1 })
  await must(app, 'POST', `${session.path}/revise`, { note: 'Say which test.' })
  const sentBack = await first
  t.match(sentBack, { behavior: 'deny', message: /Say which test\./ })
  t.match(
    sentBack.message,
    new RegExp(`On line 1:[\\s\\S]*Which test\\?[\\s\\S]*comment ${one.id}`),
  )

  const text = (hypothesis: string) =>
    `# Raise the limit\n\nRead first.\n\n## Hypothesis\n\n${hypothesis}\n\n## Plan\n\n1. Raise it.\n\n${TEST}`
  const second = agent.present(text('It is too low.'))
  await inState(case_id, 'plan_ready')
  const planned = await must(app, 'GET', session.path)
  t.equal(planned.hypothesis, 'It is too low.', 'of the plan that states one')
  const rest = `# Raise the limit\n\nRead first.\n\n1. Raise it.\n\n${TEST}`
  t.equal(planned.plan, rest.trim(), 'what stands before it is a part of what is approved')
  const two = await must(app, 'POST', comments, { text: 'Keep the name.' })
  await must(app, 'POST', `${session.path}/approve`, { note: 'Careful.' })
  const { behavior, updatedInput } = await second
  t.equal(behavior, 'allow')
  t.ok(updatedInput?.plan.startsWith(text('It is too low.')), "the agent's own text comes back")
  t.match(updatedInput?.plan, /Notes of the operator[\s\S]*Careful\./)
  t.match(updatedInput?.plan, new RegExp(`Keep the name\\.[\\s\\S]*comment ${two.id}`))
  t.notMatch((await must(app, 'GET', session.path)).plan, /Careful/, 'not in the approved plan')
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
  t.match(done.output, /^- test: exit 0/, 'the last run of the step counts')
  const trail = recordOf(app, session)
  t.match(trail, / session_created .* origin=terminal /)
  t.match(trail, /plan_approved by=\S.* via=api plan_sha256=/)
  t.match(trail, /tool_call tool=Write title=limit\.js .*input_sha256=[0-9a-f]{64}/)
  t.match(trail, /denied tool=Bash title="npm install"/)
  t.notMatch(trail, /limit = 10/, 'no input is recorded')
  t.match(trail, /agent_transcript path=\S*transcript\.jsonl sha256=[0-9a-f]{64}/)
  t.match(usageTotal(done.usage), { output_tokens: 7 }, 'counted once')

  rmSync(join(app.root, 'done.txt'))
  // the second conversation: an abandoned plan, then a deleted case
  const other = hookedAgent(app, { case_id, session: 'conversation-2' })
  // before the dialog of the agent hides notices
  const planFile = { file_path: '/home/ada/.claude/plans/limit.md' }
  const writesPlan = () => other.tell('PreToolUse', { tool_name: 'Write', tool_input: planFile })
  t.match(await writesPlan(), {
    systemMessage: /plan waits for your approval here, at .*casefile approve/,
  })
  t.equal(await writesPlan(), null, 'once for a plan')
  other.present(PLAN).catch(isCut)
  const next = await inState(case_id, 'plan_ready', 2)
  await must(app, 'POST', `${next.path}/revise`, { note: 'No.' })
  t.match(await writesPlan(), { systemMessage: /plan waits/ }, 'again for another plan')
  const asked = other.present(PLAN)
  await inState(case_id, 'plan_ready', 2)
  await must(app, 'POST', `${next.path}/abandon`, { reason: 'Not now.' })
  t.match(await asked, { behavior: 'deny', message: /abandoned.*Not now\./ })
  t.match(await other.call('Write', { file_path: 'x' }), /nothing may be changed/)
  t.equal((await sessionsOf(case_id)).length, 2, 'its calls begin no other session')
  const waits = hookedAgent(app, { case_id, session: 'conversation-3' })
  const lost = waits.present(PLAN)
  await inState(case_id, 'plan_ready', 3)
  await must(app, 'DELETE', `/cases/${case_id}`)
  t.strictSame(await lost, {}, 'the hook is let go')
  const call = () => waits.call('Write', { file_path: 'x' })
  t.match(await call(), /case of this conversation was deleted/)
  t.match(await waits.present(PLAN), { behavior: 'deny', message: /was deleted/ })
  const prompted = await waits.tell('UserPromptSubmit', { prompt: 'Something else' })
  t.match(prompted.systemMessage, /was deleted\. Choose one with casefile agent use/)
  t.match(await call(), /Nothing may be changed/, 'nor with the next prompt')
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })
  t.equal(await call(), null, 'the person has chosen to go on without')
})

t.test('the work begins after the tests before it, within the scope of the plan', async (t) => {
  const case_id = await newCase()
  const shell = spawn('sh', [], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] })
  t.teardown(() => shell.kill('SIGKILL'))
  const agent = hookedAgent(app, {
    case_id,
    session: 'tested',
    headers: { 'x-casefile-pid': `${shell.pid}` },
  })
  await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
  writeFileSync(join(app.root, 'early.js'), 'x\n')
  const go = join(app.root, 'go')
  const script = `echo 1..1
while [ ! -e '${go}' ]; do sleep 0.1; done
if grep -q 10 limit.js; then echo ok 1 - limit; else echo not ok 1 - limit; exit 1; fi`
  const plan = `1. Raise it.\n\n\`\`\`sh run id=test proof=tap baseline\n${script}\n\`\`\`\n\n## Scope\n\n- paths: limit.js\n- commands: npm test\n`
  let isAnswered = false
  const asked = agent.present(plan)
  asked
    .finally(() => {
      isAnswered = true
    })
    .catch(isCut)
  const session = await inState(case_id, 'plan_ready')
  const findings = { plan_violation: { files: ['early.js'] } }
  t.match(await must(app, 'GET', session.path), { findings }, 'before it is approved')
  const html = (await app.request('GET', `/case/${case_id}/session/1`)).text
  t.ok(html.indexOf('id="early-changes"') < html.indexOf('id="plan"'), 'above the plan')
  if (!hasProc.skip) {
    const comments = `${session.path}/comments`
    const { id } = await must(app, 'POST', comments, { text: 'Why?' })
    const asked = [
      [`${session.path}/approve`, {}],
      [comments, { text: 'Mine.' }],
      [`${comments}/${id}/replies`, { text: 'Because.' }],
    ]
    // a process that the agent started
    const out = join(app.root, '..', 'answers')
    const headers = { 'content-type': 'application/json', 'casefile-actor': 'Ada' }
    const script = `const { writeFileSync, renameSync } = await import('node:fs')
const answers = []
for (const [path, body] of ${JSON.stringify(asked)}) {
  const init = { method: 'POST', headers: ${JSON.stringify(headers)}, body: JSON.stringify(body) }
  const answer = await fetch('${app.url}' + path, init)
  answers.push(answer.status + ' ' + await answer.text())
}
writeFileSync('${out}.new', JSON.stringify(answers)); renameSync('${out}.new', '${out}')`
    writeFileSync(`${out}.mjs`, script)
    shell.stdin.write(`'${process.execPath}' '${out}.mjs'\n`)
    await until(() => existsSync(out))
    const [approves, says, replies] = JSON.parse(readFileSync(out, 'utf8'))
    t.match(approves, /^403 .*own_session/, 'an agent cannot approve its own plan')
    t.match(says, /^403 .*own_session/)
    t.match(replies, /^201 /)
    t.match((await must(app, 'GET', session.path)).comments.list, [
      { replies: [{ author: 'claude', text: 'Because.' }] },
    ])
  }
  await must(app, 'POST', `${session.path}/approve`)
  await reaches(app, session, 'executing')
  const write = (name: string) => agent.call('Write', { file_path: join(app.root, name) })
  t.match(await write('limit.js'), /records how the working folder and the tests are before the fi/)
  t.equal(await agent.call('Read', { file_path: join(app.root, 'limit.js') }), null)
  t.notOk(isAnswered, 'it is not let go yet')
  writeFileSync(go, '')
  t.match(await asked, { behavior: 'allow' })
  t.equal(await write('limit.js'), null)
  t.match(await write('other.js'), /other\.js.*outside the scope of the plan/)
  t.equal(await agent.call('Bash', { command: 'npm test' }), null)
  const publish = agent.call('Bash', { command: 'npm publish' }, { permission_mode: 'auto' })
  t.match(await publish, /outside the scope.*Stay inside/)
  t.equal(await agent.call('Read', { file_path: '/etc/hostname' }), null)
  const events = await stream(app, session)
  await events.next(({ event }) => event === 'denied')
  events.close()
  writeFileSync(join(app.root, 'limit.js'), 'limit = 10\n')
  const { systemMessage } = await agent.tell('Stop', { stop_hook_active: false })
  t.match(systemMessage, /session 1: complete, .* changed \(\+\d -1\), 1 of 1 tests passed/)
  const done = await must(app, 'GET', session.path)
  t.match(done, {
    state: 'complete',
    tests: { run: 1, failed: 0 },
    tests_before: { run: 1, failed: 1, compared: { fixed: 1, names: { fixed: ['limit'] } } },
    base: { branch: /./ },
    findings,
    candidates: [{ why_not: /early\.js, so it counts only with a reason$/ }],
  })
  t.match(recordOf(app, session), /plan_violation working_folder=\["early\.js"\]/)
  t.match(recordOf(app, session), /asked tool=Write title=other\.js/)
  const changed = done.diff.files.map(({ file }: { file: string }) => file)
  t.strictSame(changed.sort(), ['early.js', 'go', 'limit.js'])
  const patch = done.candidates.find(({ artifact }: { artifact: string }) =>
    /patch$/.test(artifact),
  )
  t.match(patch.note, '3 files, +2 −1, with what changed before the plan was approved')
  t.match(recordOf(app, session), /session_completed diff=\{.*"files":3,.*"from_start":true/)
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
})

t.test(
  'an agent is told what the case requires, and what was found and tried',
  inLongLane,
  async (t) => {
    const { id: case_id } = await app.newCase({
      title: 'Limit',
      description: 'It is too low.',
      checklist: [{ description: 'The tests pass', type: 'test-log', required: true }],
    })
    writeFileSync(app.file(case_id, 'findings.md'), 'The limit is read in app.js.\n')
    writeFileSync(app.file(case_id, 'long.md'), 'much '.repeat(4000))
    const first = hookedAgent(app, { case_id, session: 'told' })
    first.present(PLAN).catch(isCut)
    const session = await inState(case_id, 'plan_ready')
    await must(app, 'POST', `${session.path}/abandon`, { reason: 'It misses the cause.' })
    const said = await hookedAgent(app, { case_id, session: 'second' }).tell('SessionStart')
    const { additionalContext } = said.hookSpecificOutput
    t.match(additionalContext, /## Hypothesis/, 'it is asked for a hypothesis')
    t.match(additionalContext, /The tests pass \(test-log, required\)/)
    t.match(additionalContext, /findings\.md[\s\S]*The limit is read in app\.js/)
    t.match(additionalContext, /Earlier session 1[\s\S]*abandoned[\s\S]*It misses the cause/)
    t.match(additionalContext, /Cut or left out here for length: .*long\.md.* files are in /)
    t.ok(additionalContext.length <= 10_000, 'no more than Claude Code takes')

    // handed in by MCP
    const path = `/cases/${case_id}/proposed-plans`
    const proposal = { agent: 'other', cwd: '.', pid: 4_194_303, plan: PLAN }
    const one = await must(app, 'POST', path, { ...proposal, hypothesis: 'It is too low.' })
    t.match(one, { state: 'plan_ready', origin: 'terminal', hypothesis: 'It is too low.' })
    const again = await must(app, 'POST', path, { ...proposal, plan: `${PLAN}\nAgain.\n` })
    t.match(again, { id: one.id, plan: /Again\./, hypothesis: 'It is too low.' })
    const wrong = { ...proposal, plan: '```sh run bogus=1\n```\n' }
    t.equal((await app.request('POST', path, wrong)).status, 422)
    await must(app, 'POST', `/cases/${case_id}/sessions/${one.id}/approve`)
    t.equal(
      (await app.request('POST', path, proposal)).status,
      422,
      'an approved one is carried out',
    )
    await must(app, 'POST', `/cases/${case_id}/sessions/${one.id}/abandon`)
  },
)

t.test('an answer in the dialog of the agent counts', async (t) => {
  const case_id = await newCase()
  const agent = hookedAgent(app, { case_id, session: 'dialog' })
  const asked = agent.present(PLAN)
  const session = await inState(case_id, 'plan_ready')
  writeFileSync(join(app.root, 'late.js'), 'x\n')
  const plan = `${PLAN}\nEdited there.\n`
  await agent.tell('PostToolUse', { tool_name: 'ExitPlanMode', tool_response: { plan } })
  t.strictSame(await asked, {}, 'the hook that waits is let go')
  const { state, plan: approved } = await must(app, 'GET', session.path)
  t.match(state, /approved|executing/)
  t.match(approved, /Edited there/, 'the text that was approved there')
  t.match(recordOf(app, session), /plan_approved by=\S.* via=agent plan_sha256=/)
  await until(() => /plan_violation working_folder=\["late\.js"\]/.test(recordOf(app, session)))
  rmSync(join(app.root, 'late.js'))
  await must(app, 'POST', `${session.path}/abandon`)

  const forged = hookedAgent(app, { case_id, session: 'forged' })
  await forged.tell('UserPromptSubmit', { prompt: 'Hello' })
  await forged.tell('PostToolUse', { tool_name: 'ExitPlanMode', tool_response: { plan: PLAN } })
  const never = await inState(case_id, 'planning', 2)
  t.equal((await must(app, 'GET', never.path)).plan, '', 'not of a plan never presented')
  await must(app, 'POST', `${never.path}/abandon`)

  const headers = { 'x-casefile-strict': '1' }
  const strict = hookedAgent(app, { case_id, session: 'strict', headers })
  const waits = strict.present(PLAN)
  const third = await inState(case_id, 'plan_ready', 3)
  await strict.tell('PostToolUse', { tool_name: 'ExitPlanMode', tool_response: { plan: PLAN } })
  await waits
  t.equal((await must(app, 'GET', third.path)).state, 'plan_ready', 'only Casefile counts')
  const write = { file_path: join(app.root, 'a.js') }
  t.match(await strict.call('Write', write, { agent_id: 'sub' }), /waits for the operator/)
  await must(app, 'POST', `${third.path}/abandon`)

  const changes = hookedAgent(app, { case_id, session: 'changes' })
  const back = changes.present(PLAN)
  const fourth = await inState(case_id, 'plan_ready', 4)
  await changes.tell('Stop', { stop_hook_active: false })
  t.strictSame(await back, {}, 'changes asked for there take the plan back here')
  t.equal((await must(app, 'GET', fourth.path)).state, 'planning')
  t.equal((await app.request('POST', `${fourth.path}/approve`)).status, 422)
  await must(app, 'POST', `${fourth.path}/abandon`)
})

t.test('which case', inLongLane, async (t) => {
  const case_id = await newCase()
  const boundTo = async (session: string) => {
    const all = await must(app, 'GET', '/conversations')
    return all.find((each: { agent_session: string }) => each.agent_session === session)
  }
  await hookedAgent(app, { case_id: case_id.slice(0, 8), session: 'named' }).tell('SessionStart')
  t.match(await boundTo('named'), { case_id, is_gated: false }, 'that of the environment')

  await must(app, 'PUT', '/current-case', { folder: '.', case_id })
  const wrong = hookedAgent(app, { case_id: 'signin', session: 'wrong' })
  t.match(await wrong.tell('SessionStart'), { systemMessage: /CASEFILE_CASE names no open case/ })
  t.match(await boundTo('wrong'), { case_id: null })
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })

  const loose = hookedAgent(app, { session: 'unbound' })
  t.strictSame(
    await loose.tell('SessionStart'),
    {
      systemMessage:
        'Casefile: no case is current here, so nothing is recorded or held back. Before your next prompt: casefile agent use <case>',
    },
    'its person is told, and the agent nothing',
  )
  t.equal(await loose.tell('UserPromptSubmit', { prompt: 'Do it' }), null)
  t.equal(await loose.call('Write', { file_path: join(app.root, 'a') }), null)
  t.equal(await loose.tell('Stop'), null)
  const unbound = await boundTo('unbound')
  t.match(unbound, { case_id: null, folder: '.', tool_calls: 1 })
  t.equal((await sessionsOf(case_id)).length, 0)
  await must(app, 'POST', `/conversations/${unbound.id}/adopt`, { case_id })
  t.match(await loose.call('Write', { file_path: join(app.root, 'a') }), /no approved plan/)
  t.equal((await sessionsOf(case_id)).length, 1)

  const tree = join(app.root, '..', 'tree')
  git(app.root, 'worktree', 'add', '--quiet', '--detach', tree)
  await must(app, 'PUT', '/current-case', { folder: tree, case_id })
  await hookedAgent(app, { session: 'tree', cwd: tree }).tell('SessionStart')
  t.match(await boundTo('tree'), { case_id, folder: tree }, 'the current case of its tree')
  git(app.root, 'checkout', '--quiet', '-b', `fix/${case_id.slice(0, 8)}-limit`)
  await hookedAgent(app, { session: 'branch' }).tell('SessionStart')
  t.match(await boundTo('branch'), { case_id, branch: /limit/ }, 'the one that the branch names')
  t.equal(await hookedAgent(app, { session: 'else', cwd: '/' }).tell('SessionStart'), null)
  t.equal(await boundTo('else'), undefined, 'a folder elsewhere is not listed')
  git(app.root, 'checkout', '--quiet', '-b', 'plain')

  // a case that is resolved stays until the person chooses another
  const closed = await newCase('The closed limit')
  const agent = hookedAgent(app, { case_id: closed, session: 'over' })
  const prompt = () => agent.tell('UserPromptSubmit', { prompt: 'Now the other limit' })
  const write = () => agent.call('Write', { file_path: join(app.root, 'limit.js') })
  agent.present(PLAN).catch(isCut)
  const session = await inState(closed, 'plan_ready')
  await must(app, 'POST', `${session.path}/abandon`)
  const state = { state: 'WONT_FIX', outcome: 'NotNeeded', reason: 'Not needed.' }
  await must(app, 'PUT', `/cases/${closed}/state`, state)
  const over =
    /The case "The closed limit" is WONT_FIX\..*casefile agent use <case> or casefile agent adopt/
  t.match(await prompt(), { systemMessage: over, hookSpecificOutput: { additionalContext: over } })
  t.match(await write(), over)
  t.equal(await agent.call('Read', { file_path: 'limit.js' }), null)
  t.equal(await agent.call('Bash', { command: 'git status' }), null)
  t.match(await agent.call('Bash', { command: 'npm install' }), over)
  t.equal(await agent.tell('Stop'), null)
  t.match(await boundTo('over'), { case_id: closed, is_gated: true, needs_case: true })
  t.equal((await sessionsOf(closed)).length, 1, 'a closed case has no more sessions')

  const next = await newCase('The other limit')
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: next })
  t.match(await boundTo('over'), { case_id: next, needs_case: false })
  const bound = await prompt()
  t.match(bound.systemMessage, /records this as "The other limit"; nothing may change/)
  t.match(bound.hookSpecificOutput.additionalContext, /The other limit/)
  t.equal(await prompt(), null, 'it is told once')
  t.match(await write(), /The other limit.*no approved plan/)
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })
  t.match(await boundTo('over'), { case_id: next }, 'an open case is left only by its end')
  const [{ id }] = await sessionsOf(next)
  await must(app, 'POST', `/cases/${next}/sessions/${id}/abandon`)
  await must(app, 'PUT', `/cases/${next}/state`, state)
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })
  t.match(await boundTo('over'), { case_id: null, is_gated: false, needs_case: false })
  t.equal(await write(), null)
})

t.test('a conversation that ends, and a service that stops meanwhile', inLongLane, async (t) => {
  const case_id = await newCase()
  const agent = hookedAgent(app, { case_id, session: 'ended' })
  await agent.tell('UserPromptSubmit', { prompt: 'Hello' })
  await agent.tell('SessionEnd', { reason: 'prompt_input_exit' })
  const session = await inState(case_id, 'abandoned')
  t.match(recordOf(app, session), /ended before it presented a plan/)

  // resumed late, while its plan waits
  const resumed = hookedAgent(app, { case_id, session: 'resumed' })
  resumed.present(PLAN).catch(isCut)
  const third = await inState(case_id, 'plan_ready', 2)
  await resumed.tell('SessionEnd', { reason: 'other' })
  await resumed.tell('SessionStart', { source: 'resume' })
  const again = resumed.present(PLAN)
  await must(app, 'POST', `${third.path}/approve`)
  t.match(await again, { behavior: 'allow' })
  await reaches(app, third, 'executing')
  const write = { file_path: join(app.root, 'x') }
  t.equal(await resumed.call('Write', write), null, 'it works on')
  await resumed.tell('SessionEnd', { reason: 'other' })
  await reaches(app, third, 'failed')
  t.match((await must(app, 'GET', third.path)).output, /ended, and step test exited with 1/)

  // two plans wait while the service stops; the conversation of the second ended before
  const waits = hookedAgent(app, { case_id, session: 'waits' })
  const lost = waits.present(PLAN).catch(String)
  const fourth = await inState(case_id, 'plan_ready', 3)
  const other = await newCase()
  const over = hookedAgent(app, { case_id: other, session: 'over-before' })
  over.present(PLAN).catch(isCut)
  const last = await inState(other, 'plan_ready')
  await over.tell('SessionEnd', { reason: 'other' })
  await app.restart()
  t.match(await lost, /503|ECONNRESET|socket/, 'the hook is not answered, and asks again')
  const asked = waits.present(PLAN)
  await must(app, 'POST', `${fourth.path}/approve`)
  t.match(await asked, { behavior: 'allow' })
  t.equal((await sessionsOf(case_id)).length, 3)
  await must(app, 'POST', `${fourth.path}/abandon`)
  await must(app, 'POST', `${last.path}/approve`)
  await reaches(app, last, 'executing') // it waits for the agent
  await must(app, 'POST', `${last.path}/abandon`)
})

t.test('a plan that Codex wrote is read when its turn ends', async (t) => {
  const case_id = await newCase()
  const transcript = join(app.root, '..', 'rollout.jsonl')
  const item = (turn_id: string, text: string) => {
    const payload = { type: 'item_completed', turn_id, item: { type: 'Plan', id: 'x', text } }
    return `${JSON.stringify({ type: 'event_msg', payload })}\n`
  }
  const plans = [item('turn-0', 'Old.'), item('turn-1', 'First.'), item('turn-1', PLAN)]
  writeFileSync(transcript, plans.join(''))
  await must(app, 'PUT', '/current-case', { folder: '.', case_id })
  const agent = hookedAgent(app, { agent: 'codex', session: 'codex', transcript })
  await agent.tell('UserPromptSubmit', { prompt: 'Raise the limit', turn_id: 'turn-1' })
  t.match(
    await agent.tell('Stop', { turn_id: 'turn-1' }),
    { systemMessage: /the plan waits for your approval here, at http.*, or by: casefile approve/ },
    'its own question comes at once',
  )
  const session = await inState(case_id, 'plan_ready')
  t.match((await must(app, 'GET', session.path)).plan, 'Raise it to ten.')
  const patch = { command: '*** Begin Patch\n*** Update File: limit.js\n*** End Patch' }
  t.match(await agent.call('apply_patch', patch), /waits for the operator/)
  const implement = { prompt: 'Implement the plan.', turn_id: 'turn-2' }
  await agent.tell('UserPromptSubmit', implement)
  t.match(recordOf(app, session), /plan_approved by=\S.* via=agent plan_sha256=/)
  await reaches(app, session, 'executing')
  await until(async () => (await agent.call('apply_patch', patch)) === null)
  writeFileSync(join(app.root, 'done.txt'), 'x')
  await agent.tell('Stop', { turn_id: 'turn-2' })
  await reaches(app, session, 'complete')
  const over = /Session 1 has carried out its plan, and is complete\. More changes need a plan/
  const said = await agent.tell('UserPromptSubmit', { ...implement, turn_id: 'turn-3' })
  t.match(said, { systemMessage: over, hookSpecificOutput: { additionalContext: over } })
  t.match(await agent.call('apply_patch', { command: '*** Begin Patch' }), over)
  t.equal((await sessionsOf(case_id)).length, 1, 'it is not asked about again')

  // with --strict the prompt that implements the plan waits
  const headers = { 'x-casefile-strict': '1' }
  const rollout = join(app.root, '..', 'rollout-strict.jsonl')
  writeFileSync(rollout, item('turn-1', PLAN))
  const mine = { transcript: rollout, case_id, session: 's', headers }
  const codex = hookedAgent(app, { agent: 'codex', ...mine })
  t.match(await codex.tell('Stop', { turn_id: 'turn-1' }), { systemMessage: /the plan waits/ })
  const second = await inState(case_id, 'plan_ready', 2)
  const waits = codex.tell('UserPromptSubmit', implement)
  await must(app, 'PUT', `${second.path}/plan`, { plan: `${PLAN}\nMine.\n` })
  await must(app, 'POST', `${second.path}/approve`, { note: 'Careful.' })
  const { additionalContext } = (await waits).hookSpecificOutput
  t.match(additionalContext, /changed the plan.*Mine\./s)
  t.match(additionalContext, /Notes of the operator[\s\S]*Careful\./)
  await must(app, 'POST', `${second.path}/abandon`)
  t.match(recordOf(app, second, 2), /plan_edited by=request/)
})
