/**
 * Five wishes on a real repository, with a scripted agent in auto mode that speaks through the installed hooks of Claude
 * Code and `casefile agent mcp`: seconds from the wish to the first allowed write, what of the calls outside is denied, and what
 * the record says. The operator approves at once, so their own time is not in it.
 * `node bench/intents.mjs [--program dist/cli.js] [--repository .]`
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    program: { type: 'string', default: 'dist/cli.js' },
    repository: { type: 'string', default: '.' },
  },
})
const program = resolve(values.program)
const temporary = mkdtempSync(join(tmpdir(), 'casefile-intents-'))
const root = join(temporary, 'repository')
const env = { ...process.env, CASEFILE_STATE_DIR: join(temporary, 'state') }

/** @typedef {{ wish: string, file: string, paths: string[], proof: string }} Wish */
/** @type {Wish[]} */
const WISHES = [
  {
    wish: 'Say in the README what a case is',
    file: 'README.md',
    paths: ['README.md'],
    proof: 'grep -q case README.md',
  },
  {
    wish: 'List the questions first',
    file: 'docs/problems.md',
    paths: ['docs/**'],
    proof: 'test -s docs/problems.md',
  },
  {
    wish: 'Name the license in the package',
    file: 'package.json',
    paths: ['package.json'],
    proof: 'grep -q license package.json',
  },
  {
    wish: 'Count the words of a plan',
    file: 'src/model/words.js',
    paths: ['src/model/**'],
    proof: 'node --check src/model/words.js',
  },
  {
    wish: 'Test the count of words',
    file: 'test/model/words.mjs',
    paths: ['test/model/**'],
    proof: 'node test/model/words.mjs',
  },
]

/** What the agent tries besides, each outside every intent. */
const OUTSIDE = [
  ['Write', { file_path: '/etc/casefile-outside' }],
  ['Write', { file_path: 'outside.txt' }],
  ['Edit', { file_path: '.git/config' }],
  ['Bash', { command: 'git push --force' }],
  ['Bash', { command: 'rm -rf node_modules' }],
  ['Bash', { command: 'echo x > outside.txt' }],
  ['mcp__files__write', { path: 'outside.txt' }],
]

/** @param {string[]} args */
const casefile = (...args) =>
  execFileSync(process.execPath, [program, ...args], { cwd: root, env, encoding: 'utf8' })

/** A client of `casefile agent mcp`. */
function openMcp() {
  const child = spawn(process.execPath, [program, 'agent', 'mcp'], { cwd: root, env })
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map()
  let progress = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line)
    if (message.method === 'notifications/progress') progress += 1
    waiting.get(message.id)?.(message)
  })
  let id = 0
  /** @param {string} method @param {object} params @returns {Promise<any>} */
  const request = (method, params) => {
    id += 1
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((answer) => waiting.set(id, answer))
  }
  return { request, progress: () => progress, close: () => child.kill() }
}

/** The process of the agent: what it starts cannot approve, so the operator is another process. */
function openShell() {
  const child = spawn('sh', { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [given, said] = ['input', 'output'].map((name) => join(temporary, name))
  /** @param {string} command @param {string} input @returns {Promise<string>} */
  const run = async (command, input) => {
    writeFileSync(given, input)
    const ended = once(lines, 'line')
    child.stdin.write(
      `sh -c '${command.replaceAll("'", "'\\''")}' < '${given}' > '${said}'; echo done\n`,
    )
    await ended
    return readFileSync(said, 'utf8').trim()
  }
  return { run, close: () => child.kill() }
}

/** @param {Record<string, any>} hooks @param {string} session @param {ReturnType<typeof openShell>} shell */
function openAgent(hooks, session, shell) {
  const common = {
    session_id: session,
    transcript_path: '/tmp/none.jsonl',
    cwd: root,
    permission_mode: 'auto',
  }
  /** @param {string} event @param {object} fields */
  const tell = async (event, fields = {}) => {
    const input = JSON.stringify({ ...common, hook_event_name: event, ...fields })
    const [entry] = hooks[event]
    const said = await shell.run(entry.hooks[0].command, input)
    return said === '' ? null : JSON.parse(said)
  }
  /** The decision on a call, and its reason. @param {string} tool_name @param {object} tool_input */
  const call = async (tool_name, tool_input) => {
    const said = (await tell('PreToolUse', { tool_name, tool_input }))?.hookSpecificOutput
    return {
      decision: said?.permissionDecision ?? 'pass',
      reason: said?.permissionDecisionReason ?? '',
    }
  }
  return { tell, call }
}

/** @param {Wish} wish @param {any} setting */
async function carryOut({ wish, file, paths, proof }, { hooks, mcp, shell, url, number }) {
  const { id } = JSON.parse(casefile('new', wish, '--json'))
  casefile('agent', 'use', id.slice(0, 8))
  const agent = openAgent(hooks, `intent-${number}`, shell)
  const began = performance.now()
  await agent.tell('UserPromptSubmit', { prompt: wish })
  const first = await agent.call('Write', { file_path: file })
  if (first.decision !== 'deny' || !first.reason.includes('propose_plan'))
    throw new Error(first.reason)
  const proposal = { case: id, intent: `${wish}.`, paths, proof: [proof], wait: 60 }
  const params = { name: 'propose_plan', arguments: proposal, _meta: { progressToken: number } }
  const proposed = mcp.request('tools/call', params)
  const session = await Promise.race([waiting(url, id), proposed])
  if (session.result) throw new Error(session.result.content[0].text)
  const path = `${url}/cases/${id}/sessions/${session.id}`
  const body = JSON.stringify({ plan_sha256: session.plan_sha256 })
  const headers = { 'content-type': 'application/json' }
  const approved = await fetch(`${path}/approve`, { method: 'POST', headers, body })
  if (!approved.ok) throw new Error(await approved.text())
  const { result } = await proposed
  if (!/is approved: go on/.test(result.structuredContent.next))
    throw new Error(result.structuredContent.next)
  while ((await agent.call('Write', { file_path: file })).decision !== 'pass') await delay(50)
  const seconds = (performance.now() - began) / 1000
  const answers = []
  for (const [tool, input] of OUTSIDE) answers.push(await agent.call(String(tool), Object(input)))
  const denied = answers.filter(({ decision }) => decision === 'deny')
  const before =
    file.endsWith('.md') || file.endsWith('.json') ? readFileSync(join(root, file), 'utf8') : ''
  writeFileSync(
    join(root, file),
    file.endsWith('.json') ? `${before.trimEnd()}\n\n` : `${before}// words\n`,
  )
  await agent.tell('PostToolUse', { tool_name: 'Write', tool_input: { file_path: file } })
  await agent.tell('Stop', { stop_hook_active: false })
  const done = await (await fetch(path)).json()
  const record = readFileSync(join(root, 'memory/cases', id, `sessions/${done.number}.md`), 'utf8')
  const lines = record.split('\n').filter((line) => / denied tool=/.test(line)).length
  return {
    wish,
    seconds: seconds.toFixed(1),
    denied: `${denied.length} of ${OUTSIDE.length}`,
    record: `${done.state}, ${lines} denials, ${done.diff?.files?.length ?? 1} file changed, ${done.out_of_scope.length} outside`,
  }
}

/** The session of a case whose plan waits. @param {string} url @param {string} id */
async function waiting(url, id) {
  for (;;) {
    const all = await (await fetch(`${url}/cases/${id}/sessions`)).json()
    const found = all.find((/** @type {any} */ each) => each.state === 'plan_ready')
    if (found) return found
    await delay(20)
  }
}

/** @type {import('node:child_process').ChildProcess | null} */
let service = null
try {
  execFileSync('git', ['clone', '--quiet', resolve(values.repository), root])
  writeFileSync(join(root, 'casefile.md'), '---\n---\n')
  service = spawn(process.execPath, [program, 'serve', '--port', '0'], { cwd: root, env })
  const url = await new Promise((found) => {
    createInterface({ input: /** @type {any} */ (service).stdout }).on('line', (line) => {
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
      if (address) found(address)
    })
  })
  casefile('agent', 'install', 'claude', '--yes')
  const { hooks } = JSON.parse(readFileSync(join(root, '.claude/settings.local.json'), 'utf8'))
  const mcp = openMcp()
  const shell = openShell()
  const client = { name: 'claude-code', version: '1' }
  await mcp.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: client,
  })
  console.log(
    'intent | seconds to the first allowed write | outside, denied | the record\n--- | --- | --- | ---',
  )
  for (const [number, wish] of WISHES.entries()) {
    const row = await carryOut(wish, { hooks, mcp, shell, url, number })
    console.log(`${row.wish} | ${row.seconds} | ${row.denied} | ${row.record}`)
  }
  mcp.close()
  shell.close()
} finally {
  service?.kill()
  rmSync(temporary, { recursive: true, force: true })
}
