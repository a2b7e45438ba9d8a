import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { claudeHooks } from '../../src/runners/agents/claude/install.ts'
import {
  CLIENT_SECRET,
  HOOK_FINDER,
  hookScript,
  SERVER_SECRET,
  SYSTEM_FIRST,
} from '../../src/runners/agents/hooks/hook-script.ts'
import { HOOK_AGENTS } from '../../src/runners/agents/install/hook-agents.ts'
import type { HookTarget } from '../../src/runners/agents/install/hook-command.ts'
import { announceToHooks, newSecrets } from '../../src/runners/agents/install/hook-files.ts'
import { opencodeHooks } from '../../src/runners/agents/opencode/install.ts'

/** What denies a call, by the agent whose settings have the line. */
const LIKE_CLAUDE = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: /Casefile does not answer/,
  },
}
const DENIED: Readonly<Record<string, object>> = {
  claude: LIKE_CLAUDE,
  codex: LIKE_CLAUDE,
  gemini: { decision: 'deny', reason: /Casefile does not answer/ },
  copilot: { permissionDecision: 'deny', permissionDecisionReason: /Casefile does not answer/ },
}

/** A call of a tool, and the plan of the agents that present it by one. */
const CALLS: Readonly<Record<string, string[]>> = {
  claude: ['{"hook_event_name":"PreToolUse","tool_name":"Write"}', ''],
  codex: ['{"hook_event_name":"PreToolUse","tool_name":"apply_patch"}'],
  gemini: ['{"tool_name":"write_file"}', '{"tool_name":"exit_plan_mode"}'],
  copilot: ['{"toolName":"create"}'],
}

const LINES = HOOK_AGENTS.filter(({ id }) => id in DENIED)

function installed(t: Test) {
  const folder = realpathSync(t.testdir({ work: {}, state: { hooks: {} }, bin: {} }))
  const root = join(folder, 'work')
  const hooks = join(folder, 'state', 'hooks')
  const script = join(hooks, 'hook')
  // a plan is asked about again each second, for a minute
  writeFileSync(script, hookScript({ root, gitFolder: null }).replace('sleep 1', ':'))
  const bin = join(folder, 'bin')
  const target: HookTarget = { root, script, isUser: false, isShared: false, isStrict: false }

  async function serve(answer: RequestListener, { isKnown = true } = {}) {
    const secrets = newSecrets()
    const server = createServer((request, response) => {
      if (isKnown) response.setHeader(SERVER_SECRET, secrets.server)
      answer(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    await announceToHooks(hooks, { url, pid: process.pid, secrets, header: CLIENT_SECRET })
    return server
  }

  async function run(line: string, body: string, path = `${bin}${delimiter}${process.env.PATH}`) {
    const own = Object.entries(process.env).filter(([name]) => !/^(CASEFILE|CLAUDE)_/.test(name))
    const env = { ...Object.fromEntries(own), PATH: path }
    const child = spawn('/bin/sh', ['-c', line], { cwd: root, env })
    child.stdin.on('error', () => {})
    child.stdin.end(body)
    t.teardown(() => child.kill('SIGKILL'))
    return text(child.stdout)
  }

  /** Every gate line denies every call, in the words of its agent. */
  async function allDeny(why: string, options: { isUser?: boolean; path?: string } = {}) {
    const where = { ...target, isUser: options.isUser ?? false }
    const runs = LINES.flatMap((agent) => {
      const line = gateLine(agent.add(null, 'settings.json', where), agent.id)
      return CALLS[agent.id]!.map(async (body) => {
        const said = await run(line, body, options.path)
        const label = `${agent.id}, ${why}: ${body || 'nothing'}`
        t.match(said === '' ? null : JSON.parse(said), DENIED[agent.id]!, label)
      })
    })
    t.ok(runs.length > LINES.length)
    await Promise.all(runs)
  }
  return { folder, root, hooks, bin, target, serve, run, allDeny }
}

/** The only line in the settings of an agent that decides on calls. */
function gateLine(settings: string, agent: string): string {
  const found: string[] = []
  JSON.parse(settings, (_, value: unknown) => {
    if (typeof value === 'string' && value.includes(` ${agent} gate`)) found.push(value)
    return value
  })
  if (found.length !== 1) throw new Error(`${agent} has ${found.length} lines that decide`)
  return found[0]!
}

t.test('every agent that has hook lines is tried', async (t) => {
  const others = HOOK_AGENTS.filter(({ id }) => !(id in DENIED))
  t.strictSame(others, [opencodeHooks], 'it has a plugin')
})

t.test('a gate line denies if the service is away', async (t) => {
  const { hooks, target, serve, run, allDeny } = installed(t)
  await allDeny('it never ran')
  await allDeny('it never ran, hooks of the user', { isUser: true })
  const server = await serve(() => {})
  server.close()
  await once(server, 'close')
  rmSync(join(hooks, 'hook'))
  await allDeny('the script is gone')
  for (const agent of LINES) {
    const line = gateLine(agent.add(null, 'settings.json', { ...target, isUser: true }), agent.id)
    const said = await run(`export CASEFILE_RUN=x; ${line}`, CALLS[agent.id]![0]!)
    t.equal(said, '', `${agent.id} that Casefile started has another gate`)
  }
  rmSync(hooks, { recursive: true })
  await allDeny('the state folder is gone', { isUser: true })
})

t.test('a gate line denies if the service answers with an error', async (t) => {
  const { serve, allDeny } = installed(t)
  for (const status of [400, 500]) {
    await serve((_, response) => response.writeHead(status).end('{"detail":"x"}'))
    await allDeny(`status ${status}`)
  }
})

t.test('a gate line denies if another program answers', async (t) => {
  const { serve, allDeny } = installed(t)
  for (const status of [204]) {
    await serve((_, response) => response.writeHead(status).end(), { isKnown: false })
    await allDeny(`status ${status} of a stranger`)
  }
})

t.test('a gate line denies if the answer is cut off or never comes', async (t) => {
  const { serve, allDeny } = installed(t)
  let cuts = 0
  await serve((request, response) => {
    // a plan that waits asks again: after some cuts, the agent gets an error
    if (++cuts > 20) return response.writeHead(500).end()
    request.resume()
    response.writeHead(200, { 'content-length': 100 }).write('{"half":', () => response.destroy())
  })
  await allDeny('half an answer')
})

t.test('a gate line denies without curl', async (t) => {
  const { bin, target, allDeny } = installed(t)
  const script = readFileSync(target.script, 'utf8').replace(SYSTEM_FIRST, '')
  writeFileSync(target.script, script)
  symlinkSync('/bin/cat', join(bin, 'cat'))
  await allDeny('no curl', { path: bin })
})

t.test('a gate line starts no program that a run can put on the PATH', async (t) => {
  const { folder, root, bin, target, serve, run, allDeny } = installed(t)
  for (const name of ['sh', 'curl', 'cat']) {
    const planted = `#!/bin/sh\necho ${name} >> '${folder}/started'\necho '{}'\n`
    writeFileSync(join(bin, name), planted, { mode: 0o755 })
  }
  const asked: string[] = []
  await serve(({ url }, response) => {
    asked.push(url!)
    response.writeHead(500).end()
  })
  await allDeny('planted programs')
  t.ok(asked.length > LINES.length, 'the service was asked')

  const { script } = target
  mkdirSync(join(folder, 'casefile', 'hook-places'), { recursive: true })
  writeFileSync(join(folder, 'casefile', 'hook'), HOOK_FINDER)
  writeFileSync(join(folder, 'casefile', 'hook-places', 'one'), `${root}\n\n${script}\n`)
  const shared = claudeHooks.add(null, 'settings.json', { ...target, isShared: true })
  const before = asked.length
  const said = await run(`export XDG_STATE_HOME='${folder}'; ${gateLine(shared, 'claude')}`, '{}')
  t.match(JSON.parse(said), LIKE_CLAUDE, 'hooks of a project')
  t.equal(asked.length, before + 1)
  t.notOk(existsSync(join(folder, 'started')))
})

t.test('the plugin for opencode denies if the service does not answer well', async (t) => {
  const { folder, root, serve, target } = installed(t)
  const file = join(folder, 'plugin.mjs')
  writeFileSync(file, opencodeHooks.add(null, file, target))
  const { Casefile } = await import(pathToFileURL(file).href)
  const hooks = await Casefile({ client: {}, directory: root })
  const call = () =>
    hooks['tool.execute.before']({ tool: 'edit', sessionID: 's', callID: 'c' }, { args: {} })
  await t.rejects(call(), /Casefile does not answer/, 'it never ran')
  const answers: [string, RequestListener][] = [
    ['an error', (_, response) => response.writeHead(500).end()],
    ['half an answer', (_, response) => response.end('{"half":')],
    ['cut off', (_, response) => response.destroy()],
  ]
  for (const [why, answer] of answers) {
    await serve(answer)
    await t.rejects(call(), /Casefile does not answer/, why)
  }
  for (const status of [200, 204, 302]) {
    await serve((_, response) => response.writeHead(status).end(), { isKnown: false })
    await t.rejects(call(), /Casefile does not answer/, `status ${status} of a stranger`)
  }
  await serve((_, response) => response.writeHead(204).end())
  await t.resolves(call(), 'no opinion')
})
