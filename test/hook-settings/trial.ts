import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { CLIENT_SECRET, SERVER_SECRET } from '../../src/runners/agents/hooks/hook-script.ts'
import { hookAgent } from '../../src/runners/agents/install/hook-agents.ts'
import type { HookTarget } from '../../src/runners/agents/install/hook-command.ts'
import { announceToHooks, newSecrets } from '../../src/runners/agents/install/hook-files.ts'
import { tryHooks } from '../../src/runners/agents/install/trial.ts'
import type { Scene } from '../../src/runners/agents/install/trial-scenes.ts'
import { quoteForShell } from '../../src/runners/shell-quote.ts'
import { isLong } from '../fixtures/full.ts'

/** What a service would say to the calls of a trial: it denies what does more than read. */
const SERVED = `
body=$(cat)
case $body in *'"Read"'* | *'"read_file"'* | *'"view"'* | *'"update_plan"'* | *'"ls"'*) exit 0 ;; esac
case $1 in
  gemini) printf '{"decision":"deny"}' ;;
  copilot) printf '{"permissionDecision":"deny"}' ;;
  *) printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"x"}}' ;;
esac`

/** A workspace, and for each circumstance a script that behaves as that of the hooks would. */
function scenes(t: Test) {
  const folder = t.testdir({
    work: {},
    served: { hooks: {} },
    gone: { hooks: {} },
    slow: { hooks: {} },
  })
  const root = join(folder, 'work')
  const scriptIn = (name: string) => join(folder, name, 'hooks', 'hook')
  writeFileSync(scriptIn('served'), SERVED)
  writeFileSync(scriptIn('gone'), 'exit 1\n')
  writeFileSync(scriptIn('slow'), 'exec sleep 3600\n')
  const target: HookTarget = {
    root,
    script: scriptIn('served'),
    isUser: false,
    isShared: false,
    isStrict: false,
  }
  const scene = (name: string, when: string | null, isOfShell = false): Scene => ({
    when,
    isOfShell,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    redirect: (text) =>
      text
        .replaceAll(quoteForShell(target.script), quoteForShell(scriptIn(name)))
        .replaceAll(
          JSON.stringify(join(folder, 'served', 'hooks', 'url')),
          JSON.stringify(join(folder, name, 'hooks', 'url')),
        ),
  })
  const close = async () => {}
  return { folder, root, target, scene, close, served: scene('served', null) }
}

const without = 'no service runs'
const GATE = /(?<= gate (?:event=preToolUse )?\$PPID) \|\| printf '%s' '(?:[^'\\]|\\.)*'/
const failsOpen = (found: string) => found.replace(GATE, ' || true')
type Group = { matcher?: string; hooks: Record<string, unknown>[] }
/** Changes the group of the event that gates tools. */
const gate = (change: (group: Group) => void) => (found: string) => {
  const groups = JSON.parse(found)
  for (const { event, group } of groups) if (/^(Pre|Before)Tool/.test(event)) change(group)
  return JSON.stringify(groups)
}
const matching = (matcher: string) => gate((group) => void Object.assign(group, { matcher }))
const ungated = (found: string) =>
  JSON.stringify(
    JSON.parse(found).filter(({ event }: { event: string }) => !/^(Pre|Before)Tool/.test(event)),
  )
const secondLine = (found: string) => {
  const groups = JSON.parse(found)
  const gate = groups.find(({ event }: { event: string }) => event === 'PreToolUse')
  const second = structuredClone(gate)
  gate.group.matcher = 'Write|Edit|Read'
  second.group.matcher = 'Bash|mcp__.*'
  second.group.hooks[0].command = failsOpen(second.group.hooks[0].command)
  return JSON.stringify([...groups, second])
}

type Row = [agent: string, name: string, change: (found: string) => string, level: string, RegExp]

const ROWS: Row[] = [
  ...(isLong ? ['claude', 'codex', 'gemini'] : ['gemini']).map(
    (agent): Row => [
      agent,
      '|| true',
      failsOpen,
      'fails_open',
      /^when no service runs or the script is missing$/,
    ],
  ),
  ['claude', 'no event that gates', ungated, 'recorded_only', /and mcp_.* would have run/],
  ['gemini', 'another matcher', matching('Read'), 'recorded_only', /./],
  [
    'claude',
    'some tools',
    matching('Write|Edit'),
    'fails_open',
    /^when it calls Bash and mcp__test__write$/,
  ],
  ['claude', 'no matcher', gate((group) => void delete group.matcher), 'gated', /^$/],
  ['claude', 'a second line that fails open', secondLine, 'fails_open', /^when no service runs or/],
  [
    'claude',
    'not waited for',
    gate(({ hooks }) => void Object.assign(hooks[0]!, { async: true })),
    'recorded_only',
    /./,
  ],
  [
    'claude',
    'only the denial',
    (found) => found.replace(/\/bin\/sh [^|]* gate \$PPID \|\| /, ''),
    'denies_all',
    /^Read and Bash would not/,
  ],
  [
    'claude',
    'a denial without its event',
    (found) => found.replaceAll('hookEventName', 'eventName'),
    'fails_open',
    /^when no service runs/,
  ],
  // a failure denies, so only what ends well lets the tool run
  ['copilot', 'a failure', (found) => found.replace(GATE, ' || exit 7'), 'gated', /^$/],
  ['copilot', '|| true', failsOpen, 'fails_open', /^when no service runs/],
  [
    'copilot',
    'no event that gates',
    (found) => found.replace('"preToolUse"', '"postTool"'),
    'recorded_only',
    /./,
  ],
]

t.test('hooks that were changed are seen', async (t) => {
  const { folder, root, target, scene, close, served } = scenes(t)
  const found = (agent: string) => {
    const hooks = hookAgent(agent)
    return hooks.find(hooks.add(null, 'settings.json', target), 'settings.json', target)!
  }
  const others = [scene('gone', without), scene('missing', 'the script is missing', true)]
  for (const [agent, name, change, level, reason] of ROWS) {
    const subject = { trial: hookAgent(agent).trial, root, found: change(found(agent)) }
    const result = await tryHooks(subject, { served, others, folder, close })
    t.match(result, { level, reason }, `${agent}: ${name}`)
  }

  // an agent that waits no longer runs the tool, though the hook would have denied it
  const slow = scene('slow', null)
  for (const agent of ['claude', 'gemini']) {
    const short = found(agent).replace(/("timeout(?:Sec)?": ?)\d+/g, '$10.001')
    const subject = { trial: hookAgent(agent).trial, root, found: short }
    const result = await tryHooks(subject, { served: slow, others: [], folder, close })
    t.match(result, { level: 'recorded_only', reason: /would have run$/ }, `${agent}: too slow`)
  }
  const limits = (agent: string) =>
    hookAgent(agent)
      .trial.shell!.lines(found(agent))
      .map(({ limitMs }) => limitMs)
  for (const agent of ['claude', 'codex']) t.strictSame(limits(agent), [30_000], agent)
  for (const agent of ['gemini', 'copilot']) t.strictSame(limits(agent), [80_000], agent)
})

t.test('a plugin of opencode that was changed is seen', async (t) => {
  const { folder, root, target, scene, close, served } = scenes(t)
  const opencode = hookAgent('opencode')
  const plugin = opencode.add(null, 'casefile.js', target)
  const secrets = newSecrets()
  const serve = async (name: string, answer: RequestListener) => {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const place = { url, pid: process.pid, secrets, header: CLIENT_SECRET }
    const hooks = join(folder, name, 'hooks')
    mkdirSync(hooks, { recursive: true })
    await announceToHooks(hooks, place)
  }
  await serve('served', async (request, response) => {
    const { tool_name, tool_input } = JSON.parse(await text(request))
    response.setHeader(SERVER_SECRET, secrets.server)
    const isRead = tool_name === 'read' || tool_input?.command === 'ls' || tool_name === undefined
    const output = { permissionDecision: 'deny', permissionDecisionReason: 'x' }
    response.end(isRead ? '' : JSON.stringify({ hookSpecificOutput: output }))
  })
  await serve('stranger', (_, response) => response.writeHead(204).end())
  const all = [scene('none', without), scene('stranger', 'another program answers')]
  const rows: [
    name: string,
    change: (found: string) => string,
    level: string,
    reason: string,
    circumstance: string,
  ][] = [
    [
      'no error',
      (found) => found.replace(/(?<=catch \{\s+)throw new Error\(noAnswer\)/, 'return'),
      'fails_open',
      `when ${without}`,
      without,
    ],
    [
      'no look at who answers',
      (found) => found.replace(/if \(response\.headers\.get.*/, ''),
      'fails_open',
      'when another program answers',
      'another program answers',
    ],
  ]
  for (const [name, change, level, reason, circumstance] of isLong ? rows : rows.slice(1)) {
    const subject = { trial: opencode.trial, root, found: change(plugin) }
    const others = all.filter(({ when }) => when === circumstance)
    const result = await tryHooks(subject, { served, others, folder, close })
    t.strictSame(result, { level, reason }, name)
  }
})
