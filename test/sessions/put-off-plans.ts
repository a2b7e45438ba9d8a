import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { must, type Ref, reaches } from '../fixtures/session-client.ts'
import { until } from '../fixtures/session-record.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

/* Gemini CLI and Copilot: their terminals take no key while a hook waits, and their own dialogs come after it. */

const TEST = '```sh run id=test proof=log\ntest -f done.txt\n```\n'
const PLAN = `1. Raise it.\n\n${TEST}`

type Fields = Readonly<Record<string, unknown>>

/** Sends what an agent sends; gives the lines of JSON that its hook prints. */
async function post(app: TestService, path: string, case_id: string, body: Fields) {
  const headers = { 'content-type': 'application/json', 'x-casefile-case': case_id }
  const options = { method: 'POST', headers, body: JSON.stringify(body) }
  const reply = await fetch(`${app.url}/hooks/${path}`, options)
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text}`)
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

function gemini(app: TestService, case_id: string, session_id = 'g-1') {
  const temporary = join(app.root, '..', 'gemini', 'shop')
  const transcript_path = join(temporary, 'chats', 'session-1.jsonl')
  const tell = async (hook_event_name: string, fields: Fields = {}) => {
    const common = { session_id, transcript_path, cwd: app.root, hook_event_name }
    const [answer = null] = await post(app, 'gemini', case_id, { ...common, ...fields })
    return answer
  }
  const call = (tool_name: string, tool_input: Fields) =>
    tell('BeforeTool', { tool_name, tool_input })
  return {
    tell,
    call,
    write: () => call('write_file', { file_path: join(app.root, 'limit.js') }),
    present(plan: string) {
      const file = join(temporary, session_id, 'plans', 'p.md')
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, plan)
      return call('exit_plan_mode', { plan_filename: 'p.md' })
    },
  }
}

function copilot(app: TestService, case_id: string) {
  const tell = (event: string, fields: Fields = {}) => {
    const common = { sessionId: 'c-1', timestamp: 1_795_706_937_777, cwd: app.root }
    return post(app, `copilot?event=${event}`, case_id, { ...common, ...fields })
  }
  const call = (toolName: string, toolArgs: Fields) => tell('preToolUse', { toolName, toolArgs })
  return { tell, call, present: (summary: string) => call('exit_plan_mode', { summary }) }
}

async function theSession(app: TestService, case_id: string): Promise<Ref & { state: string }> {
  const [session] = await must(app, 'GET', `/cases/${case_id}/sessions`)
  return { ...session, path: `/cases/${case_id}/sessions/${session?.id}` }
}

/** Nobody decides in time there. */
const app = await openTestService(t, { limits: { planHold: 1 } })

async function newCase(): Promise<string> {
  return (await app.newCase({ title: 'Raise the limit' })).id
}

/** A prompt waits a few seconds for the tests before the work, and else is answered that the next one begins it. */
async function goOn(say: (prompt: Record<string, string>) => Promise<unknown>): Promise<string> {
  for (;;) {
    const told = JSON.stringify(await say({ prompt: 'Go on' }))
    if (!told.includes('go on with the next prompt')) return told
  }
}

t.test(
  'a plan that nobody decides on in time is put off, and its approval is the next turn',
  inLongLane,
  async (t) => {
    const case_id = await newCase()
    const agent = gemini(app, case_id)
    await agent.tell('BeforeAgent', { prompt: 'Raise the limit' })
    const held = await agent.present(PLAN)
    t.match(held, {
      decision: 'deny',
      reason: /waits for the operator's approval.*not rejected.*end your turn/,
      systemMessage:
        /waits for your approval at http.*casefile approve\. Then tell the agent to go on/,
    })
    const session = await theSession(app, case_id)
    t.equal(session.state, 'plan_ready')

    const queued = await agent.tell('BeforeAgent', { prompt: 'And rename it' })
    t.match(queued.hookSpecificOutput.additionalContext, /still waits/)
    t.match(queued.systemMessage, /casefile approve/)
    await must(app, 'POST', `${session.path}/approve`, { note: 'Careful.' })
    await reaches(app, session, 'executing')
    t.match(await agent.write(), { decision: 'deny', reason: /this turn is not its work/ })
    t.equal(await agent.call('read_file', { file_path: 'a' }), null)
    t.equal(await agent.tell('AfterAgent', { stop_hook_active: false }), null)
    t.equal((await theSession(app, case_id)).state, 'executing', 'its end is not that of the work')

    const told = await goOn((prompt) => agent.tell('BeforeAgent', prompt))
    t.match(told, /approved the plan[\s\S]*1\. Raise it\.[\s\S]*Careful\./)
    t.equal(await agent.present(PLAN), null, 'it leaves its own plan mode')
    t.equal(await agent.write(), null)
    writeFileSync(join(app.root, 'done.txt'), 'x')
    const ended = await agent.tell('AfterAgent', { stop_hook_active: false })
    t.match(ended, { systemMessage: /recorded as session 1: complete/ })
    t.equal((await theSession(app, case_id)).state, 'complete')
  },
)

t.test('a plan is put off, sent back, and carried out once it is approved', async (t) => {
  const case_id = await newCase()
  const agent = gemini(app, case_id, 'g-2')
  await agent.present(PLAN)
  const session = await theSession(app, case_id)
  await must(app, 'POST', `${session.path}/revise`, { note: 'To which number?' })
  const told = await agent.tell('BeforeAgent', { prompt: 'Go on' })
  t.match(told.hookSpecificOutput.additionalContext, /To which number\?/)
  t.match(await agent.write(), { decision: 'deny', reason: /no approved plan/ })
  await agent.present(PLAN)
  await must(app, 'POST', `${session.path}/approve`)
  t.equal(await agent.present(PLAN), null)
  t.equal(await agent.write(), null)
  const next = await agent.tell('BeforeAgent', { prompt: 'Go on' })
  t.notMatch(next?.hookSpecificOutput?.additionalContext ?? '', /approved the plan/, 'told once')
  await must(app, 'POST', `${session.path}/abandon`)
})

t.test('a decision in time is the answer to the plan', async (t) => {
  const app = await openTestService(t)
  const { id: case_id } = await app.newCase()
  const agent = gemini(app, case_id)
  const asked = agent.present(PLAN)
  await until(async () => (await theSession(app, case_id)).state === 'plan_ready')
  const session = await theSession(app, case_id)
  await must(app, 'POST', `${session.path}/approve`)
  t.equal(await asked, null, 'its own dialog comes')
  t.equal(await agent.write(), null)
})

t.test('Copilot need not ask again for what the approved plan covers', async (t) => {
  const case_id = await newCase()
  const agent = copilot(app, case_id)
  const start = await agent.tell('sessionStart', { source: 'new' })
  t.match(start[0], { type: 'progress', message: /records this as "Raise the limit"/ })
  t.match(start[1], { additionalContext: /Raise the limit/ })
  const edit = (path: string) => agent.call('edit', { path: join(app.root, path) })
  const run = (command: string) => agent.call('bash', { command })
  const denied = [{ permissionDecision: 'deny' }]
  const allowed = [{ permissionDecision: 'allow' }]
  t.match(await edit('src/limit.js'), denied, 'never before the approval')

  await agent.present(`${PLAN}\n## Scope\n\n- paths: src, .github\n- commands: npm test\n`)
  const session = await theSession(app, case_id)
  t.match(await edit('src/limit.js'), denied)
  await must(app, 'POST', `${session.path}/approve`)
  const begin = async (ref: Ref) => {
    await reaches(app, ref, 'executing')
    const told = await goOn((prompt) => agent.tell('userPromptSubmitted', prompt))
    t.match(told, /approved the plan/)
  }
  await begin(session)
  t.strictSame(await edit('src/limit.js'), allowed)
  t.strictSame(await run('npm test'), allowed)
  t.match(await edit('other.js'), denied, 'outside the scope')
  t.match(await run('npm publish'), denied)
  t.strictSame(await edit('.github/hooks/a.json'), [], 'hidden files are asked about')
  t.strictSame(await agent.call('tool_of_a_server', { path: join(app.root, 'src/a') }), [])
  await must(app, 'POST', `${session.path}/abandon`)

  await agent.tell('userPromptSubmitted', { prompt: 'More' })
  await agent.present(PLAN)
  const second = await theSession(app, case_id)
  await must(app, 'POST', `${second.path}/approve`)
  await begin(second)
  t.strictSame(await edit('src/limit.js'), allowed, 'without a scope, files of the folder')
  t.strictSame(await run('npm test'), [], 'but no commands')
  const record = app.file(case_id, 'case.md')
  t.ok(existsSync(record))
  t.strictSame(await agent.call('edit', { path: record }), [], 'nor records')
})
