import { once } from 'node:events'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { CLIENT_SECRET, SERVER_SECRET } from '../../src/runners/agents/hooks/hook-script.ts'
import { announceToHooks, newSecrets } from '../../src/runners/agents/install/hook-files.ts'
import { opencodeHooks } from '../../src/runners/agents/opencode/install.ts'

/** The plugin as opencode loads it, and a service that answers as it is told. */
async function plugin(t: Test, { isUser = false, isStrict = false } = {}) {
  const folder = realpathSync(t.testdir({ work: {}, state: { hooks: {} } }))
  const root = join(folder, 'work')
  const hooks = join(folder, 'state', 'hooks')
  const secrets = newSecrets()
  // biome-ignore lint/suspicious/noExplicitAny: what a hook sends
  const sent: { headers: any; body: any }[] = []
  const answers: Record<string, object> = {}
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    sent.push({ headers: request.headers, body })
    const answer = answers[body.hook_event_name]
    response.setHeader(SERVER_SECRET, secrets.server)
    response.end(answer ? JSON.stringify(answer) : '')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await announceToHooks(hooks, { url, pid: process.pid, secrets, header: CLIENT_SECRET })
  const target = { root, script: join(hooks, 'hook'), isUser, isShared: false, isStrict }
  const file = join(folder, 'plugin.mjs')
  writeFileSync(file, opencodeHooks.add(null, file, target))
  const { Casefile } = await import(pathToFileURL(file).href)
  const prompts: unknown[] = []
  const client = {
    session: { prompt: async (request: unknown) => void prompts.push(request) },
    tui: { showToast: async () => {} },
  }
  const load = (directory = root) => Casefile({ client, directory })
  return { folder, root, sent, answers, prompts, secrets, load }
}

const named = (hookEventName: string, more: object) => ({
  hookSpecificOutput: { hookEventName, ...more },
})

t.test('a conversation of opencode is told, gated and counted', async (t) => {
  const { sent, answers, prompts, secrets, root, load } = await plugin(t, { isStrict: true })
  const hooks = await load()
  answers.SessionStart = named('SessionStart', { additionalContext: 'The case.' })
  answers.UserPromptSubmit = named('UserPromptSubmit', { additionalContext: 'The plan.' })
  const message = { sessionID: 's', agent: 'build', model: { providerID: 'p', modelID: 'm' } }
  await hooks['chat.message'](message, {
    parts: [{ type: 'text', text: 'Do it.' }, { type: 'file' }],
  })
  t.match(
    sent.map(({ body }) => body),
    [
      { hook_event_name: 'SessionStart', session_id: 's', cwd: root, source: 'startup' },
      {
        hook_event_name: 'UserPromptSubmit',
        prompt: 'Do it.',
        model: 'p/m',
        permission_mode: 'build',
      },
    ],
  )
  t.match(sent[0]!.headers, {
    'x-casefile-strict': '1',
    'x-casefile-pid': String(process.pid),
    [CLIENT_SECRET.toLowerCase()]: secrets.client,
  })
  const output = { system: [] }
  await hooks['experimental.chat.system.transform']({ sessionID: 's' }, output)
  t.strictSame(output.system, ['The case.\n\nThe plan.'])

  const call = (tool: string) =>
    hooks['tool.execute.before']({ tool, sessionID: 's', callID: 'c' }, { args: { filePath: 'a' } })
  await call('read')
  t.match(sent.at(-1)!.body, {
    hook_event_name: 'PreToolUse',
    tool_name: 'read',
    tool_input: { filePath: 'a' },
  })
  answers.PreToolUse = named('PreToolUse', {
    permissionDecision: 'deny',
    permissionDecisionReason: 'No plan.',
  })
  await t.rejects(call('edit'), { message: 'No plan.' })
  answers.PreToolUse = named('PreToolUse', { permissionDecision: 'ask' })
  await t.rejects(call('edit'), /Casefile does not answer/, 'an answer that is not known')
  answers.PreToolUse = named('PreToolUse', { permissionDecision: 'allow' })
  await t.resolves(call('edit'))

  const tokens = (id: string, input: number) => ({
    type: 'message.updated',
    properties: {
      info: {
        id,
        sessionID: 's',
        role: 'assistant',
        tokens: { input, output: 10, reasoning: 5, cache: { read: 3, write: 2 } },
      },
    },
  })
  for (const event of [tokens('a', 1), tokens('a', 100), tokens('b', 1000)])
    await hooks.event({ event })
  const idle = { type: 'session.idle', properties: { sessionID: 's' } }
  const stop = async () => {
    await hooks.event({ event: idle })
    return sent.at(-1)!.body
  }
  answers.Stop = { decision: 'block', reason: 'Red.' }
  t.match(await stop(), {
    hook_event_name: 'Stop',
    stop_hook_active: false,
    usage: { input_tokens: 1110, output_tokens: 30, cached_tokens: 6 },
  })
  t.match(prompts, [{ path: { id: 's' }, body: { parts: [{ type: 'text', text: 'Red.' }] } }])
  delete answers.Stop
  t.match(await stop(), { stop_hook_active: true })
  t.match(await stop(), { stop_hook_active: false }, 'a later turn may be blocked again')
  t.equal(prompts.length, 1)
  const count = sent.length
  await hooks.event({ event: { ...idle, properties: { sessionID: 'unknown' } } })
  t.equal(sent.length, count)
  await hooks.event({ event: { type: 'session.deleted', properties: { info: { id: 's' } } } })
  t.match(sent.at(-1)!.body, { hook_event_name: 'SessionEnd', session_id: 's' })
})

t.test("the plugin of a user's settings is for the workspace and its worktrees", async (t) => {
  const { folder, root, load } = await plugin(t, { isUser: true })
  const git = join(root, '.git')
  const folders = [
    'work/src',
    'work2',
    'other/src',
    'tree/src',
    'module',
    'work/.git/worktrees/tree',
  ]
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'tree/.git'), `gitdir: ${git}/worktrees/tree\n`)
  writeFileSync(join(folder, 'module/.git'), `gitdir: ${git}/modules/module\n`)
  const gates = async (name: string) => 'tool.execute.before' in (await load(join(folder, name)))
  for (const name of ['work', 'work/src', 'tree', 'tree/src']) t.ok(await gates(name), name)
  for (const name of ['work2', 'other/src', 'module', '.']) t.notOk(await gates(name), name)
})

t.test('an agent that the service has started has another gate', async (t) => {
  const { load } = await plugin(t)
  process.env.CASEFILE_RUN = 'x'
  t.teardown(() => {
    delete process.env.CASEFILE_RUN
  })
  t.strictSame(await load(), {})
})
