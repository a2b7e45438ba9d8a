import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import {
  CLIENT_SECRET,
  HOOK_FINDER,
  hookScript,
  SERVER_SECRET,
} from '../../src/runners/agents/hooks/hook-script.ts'
import { announceToHooks, newSecrets } from '../../src/runners/agents/install/hook-files.ts'

interface Call {
  url: string
  headers: IncomingHttpHeaders
  body: string
  response: ServerResponse
}

/** A workspace with the script, and servers whose address it is told. */
function workspaceWithHooks(t: Test) {
  const folder = realpathSync(t.testdir({ 'it’s one': {}, state: { hooks: {} }, other: {} }))
  const root = join(folder, 'it’s one')
  const git = join(root, '.git')
  const hooks = join(folder, 'state', 'hooks')
  mkdirSync(git)
  writeFileSync(join(hooks, 'hook'), hookScript({ root, gitFolder: git }))

  async function serve(
    answer: (call: Call) => void,
    { isKnown = true, pid = process.pid }: { isKnown?: boolean; pid?: number } = {},
  ) {
    const calls: Call[] = []
    const secrets = newSecrets()
    const server = createServer(async (request, response) => {
      const call = {
        url: request.url!,
        headers: request.headers,
        body: await text(request),
        response,
      }
      calls.push(call)
      if (isKnown) response.setHeader(SERVER_SECRET, secrets.server)
      answer(call)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await announceToHooks(hooks, { url, pid, secrets, header: CLIENT_SECRET })
    const stop = async () => {
      server.closeAllConnections()
      server.close()
      rmSync(join(hooks, 'url'), { force: true })
    }
    t.teardown(stop)
    return { calls, secrets, stop }
  }

  function start(words: string, body: string, env: Record<string, string> = {}, cwd = root) {
    const own = Object.entries(process.env).filter(([name]) => !/^(CASEFILE|CLAUDE)_/.test(name))
    const child = spawn('/bin/sh', ['-c', `sh "$HOOK" ${words} || printf DENIED`], {
      cwd,
      env: { ...Object.fromEntries(own), HOOK: join(hooks, 'hook'), ...env },
    })
    child.stdin.on('error', () => {})
    child.stdin.end(body)
    t.teardown(() => child.kill('SIGKILL'))
    return { child, said: text(child.stdout), errors: text(child.stderr) }
  }
  const run = (...args: Parameters<typeof start>) => start(...args).said
  return { folder, root, hooks, git, serve, start, run }
}

const BODY = '{"tool_name":"Write","tool_input":{"content":"it’s 100% \\\\n $HOME `ls`"}}'

t.test('it sends what it reads, and prints what comes', async (t) => {
  const { serve, run, root } = workspaceWithHooks(t)
  const { calls } = await serve(({ response }) => response.end('{"answer":"it’s %s \\n"}'))
  const env = { CASEFILE_CASE: 'K-1', CASEFILE_SESSION: 's', CLAUDE_PID: '42', http_proxy: 'x:1' }
  t.equal(await run('claude gate strict', BODY, env), '{"answer":"it’s %s \\n"}')
  const [{ url, headers, body }] = calls as [Call]
  t.equal(url, '/hooks/claude')
  t.equal(body, BODY)
  t.match(headers, {
    'content-type': 'application/json',
    'x-casefile-case': 'K-1',
    'x-casefile-session': 's',
    'x-casefile-pid': '42',
    'x-casefile-strict': '1',
    'x-casefile-root': Buffer.from(root).toString('latin1'),
  })
  for (const kind of ['tell', 'stop', 'wait', 'hold']) {
    t.equal(await run(`codex ${kind} 77`, BODY), '{"answer":"it’s %s \\n"}', kind)
  }
  t.match(calls.at(-1), { url: '/hooks/codex', headers: { 'x-casefile-pid': '77' } })
  t.notOk('x-casefile-case' in calls.at(-1)!.headers)
  const pidOf = async (words: string, more: Record<string, string>) => {
    await run(words, BODY, more)
    return calls.at(-1)!.headers['x-casefile-pid']
  }
  t.equal(
    await pidOf('codex tell 77', { CASEFILE_PID: '78' }),
    '78',
    'as casefile agent run announced it',
  )
  t.equal(await pidOf('codex tell 77', { CLAUDE_PID: '79' }), '77', 'that of another agent')
  t.equal(await pidOf('copilot gate event=preToolUse 77', {}), '77')
  t.equal(calls.at(-1)!.url, '/hooks/copilot?event=preToolUse')
  t.notOk('x-casefile-strict' in calls.at(-1)!.headers)
})

t.test('only a gate denies if nothing or nothing good answers', async (t) => {
  const { serve, run } = workspaceWithHooks(t)
  const all = async (why: string) => {
    t.equal(await run('claude gate', BODY), 'DENIED', `gate: ${why}`)
    for (const kind of ['tell', 'hold'])
      t.equal(await run(`claude ${kind}`, BODY), '', `${kind}: ${why}`)
  }
  await all('no address')
  const { stop } = await serve(({ response }) => response.writeHead(413).end('{"too":"large"}'))
  t.equal(await run('claude gate', BODY), 'DENIED', 'an error')
  t.equal(await run('claude tell', BODY), '', 'an error')
  await stop()
  const cut = await serve(({ response }) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"half":')
    setTimeout(() => response.destroy(), 20)
  })
  t.equal(await run('claude gate', BODY), 'DENIED', 'half an answer')
  t.equal(await run('claude tell', BODY), '', 'half an answer')
  await cut.stop()
})

t.test('another program on the port opens no gate, whatever it answers', async (t) => {
  const { serve, run } = workspaceWithHooks(t)
  const fake = `HTTP/1.1 200 OK\r\n${SERVER_SECRET}: ${'0'.repeat(64)}\r\n\r\n{}`
  const answers: [string, (call: Call) => void][] = [
    ['200', ({ response }) => response.end('{}')],
    ['a secret of its own', ({ response }) => response.end(fake)],
    [
      'what it was sent',
      ({ headers, response }) => {
        const sent = headers[CLIENT_SECRET.toLowerCase()]!
        response.setHeader(SERVER_SECRET, sent).end(`${SERVER_SECRET}: ${sent}`)
      },
    ],
  ]
  for (const [why, answer] of answers) {
    const { calls, secrets, stop } = await serve(answer, { isKnown: false })
    t.equal(await run('claude gate', BODY), 'DENIED', why)
    t.equal(await run('claude hold', BODY), '', why)
    for (const { headers } of calls) t.notMatch(JSON.stringify(headers), secrets.server)
    await stop()
  }
})

t.test('another program on the port of a service that was killed hears nothing', async (t) => {
  const { serve, run } = workspaceWithHooks(t)
  const service = spawn('true')
  await once(service, 'exit')
  const { calls } = await serve(({ response }) => response.end('{}'), { pid: service.pid! })
  t.equal(await run('claude gate', BODY), 'DENIED')
  t.strictSame(calls, [])
})

t.test('a plan of Gemini or Copilot is denied at once if its service goes away', async (t) => {
  const { serve, run } = workspaceWithHooks(t)
  const plans = [
    ['gemini', '{"tool_name":"exit_plan_mode"}'],
    ['copilot', '{"toolName":"exit_plan_mode"}'],
  ] as const
  for (const [agent, body] of plans) {
    const dying = await serve(({ response }) => response.destroy())
    for (const each of [body, BODY]) t.equal(await run(`${agent} gate`, each), 'DENIED', 'it dies')
    t.equal(dying.calls.length, 2, 'its terminal would take no key while it is asked again')
    await dying.stop()
    const { stop } = await serve(({ response }) => response.end('{"is":"put off"}'))
    t.equal(await run(`${agent} gate`, body), '{"is":"put off"}')
    await stop()
  }
})

t.test('a note prints nothing, except for the end of the dialog about a plan', async (t) => {
  const { serve, run } = workspaceWithHooks(t)
  const { calls } = await serve(({ response }) => response.end('said'))
  t.equal(await run('claude note', BODY), '')
  const ends = [
    '"tool_name":"ExitPlanMode"',
    '"tool_name":"exit_plan_mode"',
    '"toolName":"exit_plan_mode"',
  ]
  for (const end of ends) t.equal(await run('claude note', `{${end}}`), 'said', end)
  t.equal(calls.at(-1)!.headers['x-casefile-kind'], 'note')
})

t.test('a body larger than one argument may be comes whole, and without a pause', async (t) => {
  const { serve, run } = workspaceWithHooks(t)
  const { calls } = await serve(({ response }) => response.end('ok'))
  const large = JSON.stringify({ content: 'ü"\\'.repeat(800_000) })
  for (const kind of ['gate', 'wait']) t.equal(await run(`claude ${kind}`, large), 'ok', kind)
  for (const { body } of calls) t.ok(body === large)
})

t.test('a plan waits through a restart on another port', async (t) => {
  const { serve, start } = workspaceWithHooks(t)
  for (const kind of ['wait']) {
    let heard = () => {}
    const first = new Promise<void>((resolve) => {
      heard = resolve
    })
    const before = await serve(() => heard())
    const { said } = start(`claude ${kind}`, BODY)
    await first
    await before.stop()
    const after = await serve(({ response }) => response.end('approved'))
    t.equal(await said, 'approved', kind)
    t.equal(after.calls[0]!.body, BODY)
    await after.stop()
  }
})

t.test('a plan that waits ends with its agent', async (t) => {
  const { start } = workspaceWithHooks(t)
  const agent = spawn('sleep', ['60'])
  t.teardown(() => agent.kill())
  const { said } = start('claude wait', BODY, { CLAUDE_PID: String(agent.pid) })
  const ended = once(agent, 'exit')
  agent.kill('SIGKILL')
  await ended
  t.equal(await said, '')
})

t.test("an agent that the service started is not asked about by the user's hooks", async (t) => {
  const { run } = workspaceWithHooks(t)
  t.equal(await run('claude gate', BODY, { CASEFILE_RUN: 'r' }), '')
})

t.test(
  "a user's hook asks only in the workspace and the worktrees of its repository",
  async (t) => {
    const { run, root, git, folder } = workspaceWithHooks(t)
    const inner = join(root, 'src', 'deep')
    const worktree = join(folder, 'worktree', 'src')
    const module = join(root, '..', 'other', 'module')
    const [beside, nested] = [`${root} 2`, join(folder, 'worktree', 'clone', 'src')]
    for (const each of [inner, worktree, module, beside, join(nested, '..', '.git'), nested])
      mkdirSync(each, { recursive: true })
    writeFileSync(join(folder, 'worktree', '.git'), `gitdir: ${git}/worktrees/worktree\n`)
    writeFileSync(join(module, '.git'), `gitdir: ${git}/modules/module\n`)
    for (const cwd of [root, inner, worktree, join(folder, 'worktree')]) {
      t.equal(await run('claude gate user', BODY, {}, cwd), 'DENIED', cwd)
    }
    for (const cwd of [folder, join(folder, 'other'), module, beside, nested, '/']) {
      t.equal(await run('claude gate user', BODY, {}, cwd), '', cwd)
    }
    const project = { CLAUDE_PROJECT_DIR: root }
    t.equal(await run('claude gate user', BODY, project, '/'), 'DENIED', 'the session has moved')
  },
)

t.test('settings that many people share find the workspace of the agent', async (t) => {
  const { serve, start, root, git, hooks, folder } = workspaceWithHooks(t)
  const all = join(folder, 'xdg', 'casefile')
  const places = join(all, 'hook-places')
  mkdirSync(places, { recursive: true })
  writeFileSync(join(all, 'hook'), HOOK_FINDER)
  writeFileSync(join(places, 'a'), `/nowhere/else\n\n/nowhere/hook\n`)
  writeFileSync(join(places, 'b'), `${root}\n${git}\n${join(hooks, 'hook')}\n`)
  writeFileSync(join(places, 'c'), 'half')
  const worktree = join(folder, 'worktree')
  mkdirSync(worktree)
  writeFileSync(join(worktree, '.git'), `gitdir: ${git}/worktrees/worktree\n`)
  const run = (env: Record<string, string>, cwd: string) =>
    start('claude gate', BODY, { ...env, HOOK: join(all, 'hook') }, cwd).said

  t.equal(await run({}, root), 'DENIED', 'without a service')
  await serve(({ response }) => response.end('heard'))
  for (const cwd of [root, worktree]) t.equal(await run({}, cwd), 'heard', cwd)
  t.equal(await run({ CLAUDE_PROJECT_DIR: root }, '/'), 'heard')
  t.equal(await run({}, folder), 'DENIED', 'a project that no service of this machine knows')
})
