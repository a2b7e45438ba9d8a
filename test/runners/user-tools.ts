import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Agent } from '../../src/runners/agents/agent.ts'
import { claudeServers } from '../../src/runners/agents/claude/home.ts'
import { claude } from '../../src/runners/agents/claude/run.ts'
import { copilotServers } from '../../src/runners/agents/copilot/home.ts'
import { copilot } from '../../src/runners/agents/copilot/run.ts'
import { gemini } from '../../src/runners/agents/gemini/run.ts'
import { opencode } from '../../src/runners/agents/opencode/run.ts'
import { allowanceOf, scratchFolder } from '../../src/runners/agents/user-tools.ts'

const SERVER = { command: 'casefile', args: ['mcp'] }
const SETTINGS_THAT_NAME_NONE: [what: string, text: string | null][] = [
  ['no file', null],
  ['an empty file', ''],
  ['half a file', '{"mcpServers":{"a"'],
  ['a list', '[]'],
  ['null', 'null'],
  ['servers that are no object', '{"mcpServers":"casefile","projects":[1]}'],
]

t.test("Claude's servers: those of the user, and those added locally in this folder", async (t) => {
  const project = '/project/app'
  const settings = {
    mcpServers: { casefile: SERVER, 'my server': SERVER },
    projects: {
      [project]: { mcpServers: { 'local.one': SERVER, casefile: SERVER } },
      '/project/other': { mcpServers: { elsewhere: SERVER } },
    },
  }
  const home = t.testdir({
    '.claude.json': JSON.stringify(settings),
    moved: { '.claude.json': JSON.stringify({ mcpServers: { moved: SERVER } }) },
  })
  t.strictSame(await claudeServers({ HOME: home }, project), ['casefile', 'my_server', 'local_one'])
  t.strictSame(await claudeServers({ HOME: home }, '/work'), ['casefile', 'my_server'])
  const moved = { HOME: home, CLAUDE_CONFIG_DIR: join(home, 'moved') }
  t.strictSame(await claudeServers(moved, project), ['moved'])
  t.strictSame(await claudeServers({}, project), [])
})

t.test("Copilot's servers, by names that its option can take", async (t) => {
  const home = t.testdir({
    '.copilot': {
      'mcp-config.json': JSON.stringify({
        mcpServers: { casefile: SERVER, 'a.b-c_1': SERVER, 'two words': SERVER, 'x(y)': SERVER },
      }),
    },
    moved: { 'mcp-config.json': JSON.stringify({ mcpServers: { moved: SERVER } }) },
  })
  t.strictSame(await copilotServers({ HOME: home }), ['casefile', 'a.b-c_1'])
  const moved = { HOME: home, COPILOT_HOME: join(home, 'moved') }
  t.strictSame(await copilotServers(moved), ['moved'])
})

t.test('settings of the user that name no server', async (t) => {
  for (const [what, text] of SETTINGS_THAT_NAME_NONE) {
    await t.test(what, async (t) => {
      const home = t.testdir({ '.copilot': {} })
      if (text !== null) {
        writeFileSync(join(home, '.claude.json'), text)
        writeFileSync(join(home, '.copilot/mcp-config.json'), text)
      }
      t.strictSame(await claudeServers({ HOME: home }, '/work'), [])
      t.strictSame(await copilotServers({ HOME: home }), [])
    })
  }
})

t.test('the folder of TMPDIR, unless the working folder is in it', async (t) => {
  const folder = realpathSync(t.testdir({ tmp: { project: {} }, work: {} }))
  const at = (name: string) => join(folder, name)
  symlinkSync('tmp', at('link'))
  const folders: [what: string, env: Record<string, string>, expected: string | null][] = [
    ['a folder', { TMPDIR: at('tmp') }, at('tmp')],
    ['a slash at its end', { TMPDIR: `${at('tmp')}/` }, at('tmp')],
    ['through a link', { TMPDIR: at('link') }, at('tmp')],
    ['not set', {}, null],
    ['empty', { TMPDIR: '' }, null],
    ['relative', { TMPDIR: 'tmp' }, null],
    ['the working folder is in it', { TMPDIR: folder }, null],
    ['it is the working folder', { TMPDIR: at('work') }, null],
  ]
  for (const [what, env, expected] of folders) {
    t.equal(await scratchFolder(env, at('work')), expected, what)
  }
  t.equal(await scratchFolder({ TMPDIR: at('link') }, at('tmp/project')), null, 'behind a link')
})

t.test('what each agent is started with for them', async (t) => {
  const folder = realpathSync(t.testdir({ tmp: {}, work: {}, empty: {}, home: {} }))
  const at = (name: string) => join(folder, name)
  const servers = JSON.stringify({ mcpServers: { casefile: SERVER, notes: SERVER } })
  writeFileSync(at('home/.claude.json'), servers)
  mkdirSync(at('home/.copilot'))
  writeFileSync(at('home/.copilot/mcp-config.json'), servers)
  const full = { HOME: at('home'), TMPDIR: at('tmp') }
  const none = { HOME: at('empty') }
  const allowed = ({ work }: Agent, env: Record<string, string>) =>
    allowanceOf(work!.userPlaces!, env, at('work'))
  const outside = (folders: object) => ({
    OPENCODE_PERMISSION: JSON.stringify({ external_directory: folders }),
  })

  t.strictSame(await allowed(claude, full), {
    args: ['--add-dir', at('tmp'), '--allowedTools', 'mcp__casefile,mcp__notes'],
    env: {},
  })
  t.strictSame(await allowed(copilot, full), {
    args: ['--allow-tool=casefile', '--allow-tool=notes'],
    env: {},
  })
  t.strictSame(await allowed(gemini, full), {
    args: ['--include-directories', at('tmp')],
    env: {},
  })
  t.strictSame(await allowed(opencode, full), {
    args: [],
    env: outside({ '*': 'deny', [`${at('tmp')}/*`]: 'allow' }),
  })
  for (const agent of [claude, copilot, gemini]) {
    t.strictSame(await allowed(agent, none), { args: [], env: {} })
  }
  t.strictSame(await allowed(opencode, none), { args: [], env: outside({ '*': 'deny' }) })
})
