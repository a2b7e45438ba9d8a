import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { MCP_AGENTS } from '../fixtures/agents/mcp-clients.ts'
import { homeEnvironment, REAL_AGENTS, whyMissing } from '../fixtures/agents/real-agents.ts'
import { CLI } from '../fixtures/cli.ts'
import { isFull } from '../fixtures/full.ts'
import { openScriptedModel } from '../fixtures/scripted-model.ts'

/*
 * `casefile agent mcp` with clients that others wrote: real agents in full only, the MCP Inspector by its command line
 * wherever it is installed. mcp.ts has what it promises.
 */
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const INSPECTOR = here('../mcp-inspector/node_modules/.bin/mcp-inspector')
const CASE = 'c12d54ae-1933-4631-a05f-aecf75428827'

function scene(t: Test) {
  t.teardown(() => {}) // or tap removes the testdir before the programs have ended
  const dir = realpathSync(t.testdir({ root: {}, state: {}, home: { tmp: {} } }))
  const [root, home] = [join(dir, 'root'), join(dir, 'home')]
  cpSync(here('../../sample-workspace'), root, { recursive: true })
  mkdirSync(join(home, 'config'), { recursive: true })
  const env = { CASEFILE_STATE_DIR: join(dir, 'state') }
  const file = (name: string) => join(root, 'memory/cases', CASE, name)
  return { root, home, env, file, command: [process.execPath, CLI, 'agent', 'mcp'] }
}

async function ended(
  [program = '', ...args]: readonly string[],
  options: { cwd: string; env: Record<string, string> },
) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  const [code] = await once(child, 'close')
  return { code, stdout: await stdout, stderr: await stderr }
}

for (const id of Object.keys(MCP_AGENTS) as (keyof typeof MCP_AGENTS)[]) {
  const skip = isFull ? (whyMissing(id) ?? false) : 'in full only'
  t.test(`${id} finds the tools and uses them`, { skip, timeout: 120_000 }, async (t) => {
    const { root, home, env, file, command } = scene(t)
    const model = await openScriptedModel()
    t.teardown(() => model.close())
    const agent = MCP_AGENTS[id]
    const own = { ...homeEnvironment(home), ...REAL_AGENTS[id].settle(home, model.url) }
    agent.configure(home, command, env)
    const before = readFileSync(file('case.md'), 'utf8')
    model.script(
      agent.uses('append_memory', { case: 'right after', text: `Written by ${id}.` }),
      agent.uses('append_memory', { case: CASE, filename: 'case.md', text: 'state: RESOLVED' }),
      { text: 'It is noted.' },
    )
    const run = await ended(agent.run, { cwd: root, env: own })
    t.equal(run.code, 0, run.stderr)
    t.equal(readFileSync(file('notes.md'), 'utf8'), `Written by ${id}.\n`)
    t.equal(readFileSync(file('case.md'), 'utf8'), before)
    t.match(JSON.stringify(model.requests.at(-1)?.body), /part of the record, which no tool here/)
  })
}

/** What .ci/run could not install, as a whole at least, it says. */
const whyNoInspector =
  process.env.MCP_INSPECTOR_MISSING ||
  (!existsSync(INSPECTOR) && 'not installed: npm ci --prefix test/mcp-inspector --ignore-scripts')

t.test('the MCP inspector', { skip: whyNoInspector, timeout: 120_000 }, async (t) => {
  const { root, home, env, command } = scene(t)
  const inspect = (...args: string[]) =>
    ended([INSPECTOR, '--cli', ...command, '--method', ...args], {
      cwd: root,
      env: { ...homeEnvironment(home), ...env },
    })
  const call = (tool: string, ...pairs: string[]) =>
    inspect('tools/call', '--tool-name', tool, ...pairs.flatMap((pair) => ['--tool-arg', pair]))

  const tools = await inspect('tools/list', '--strict')
  t.equal(tools.code, 0, 'their schemas are portable')
  t.match(tools.stderr, /0 errors/)
  t.equal(JSON.parse(tools.stdout).tools.length, 14)
  const refused = await call('append_memory', 'case=right after', 'filename=1.md', 'text=x')
  t.match(refused, { code: 5, stdout: /"isError": true/ })
  const uri = `casefile://cases/${CASE}/memory/case.md`
  const read = JSON.parse((await inspect('resources/read', '--uri', uri)).stdout)
  t.match(read.contents, [{ uri, text: /^state: PLANNING$/m }])
  if (!isFull) return // each of these starts two programs
  const page = readFileSync(new URL('../../docs/hooks.md', import.meta.url), 'utf8')
  const [, typed = ''] = /--cli casefile agent mcp --method (tools\/call .*)$/m.exec(page) ?? []
  const words = typed.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ''))
  const found = await inspect(...words)
  t.match(JSON.parse(found.stdout).structuredContent, { id: CASE }, 'what docs/hooks.md has')
  const { resources } = JSON.parse((await inspect('resources/list')).stdout)
  t.equal(resources[0].uri, 'casefile://cases')
  t.match(await inspect('resources/read', '--uri', `${uri}/../x`), {
    code: 1,
    stderr: /is not a resource of casefile/,
  })
})
