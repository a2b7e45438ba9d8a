import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readProjectInstructions } from '../../src/settings/project-instructions.ts'
import { FAKE_BIN } from '../fixtures/agents/contract-subjects.ts'
import { committed, plannedOn, program } from '../fixtures/plain-agents.ts'
import { finished, must, reachesAgain } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const GROUPS = [['CLAUDE.md', 'AGENTS.md'], ['.claude/CLAUDE.md']]

t.test('the instructions of a project, from the top of its repository down', async (t) => {
  const files = {
    '.git': {},
    'AGENTS.md': 'of the top',
    a: { 'CLAUDE.md': 'of a', 'AGENTS.md': 'second', '.claude': { 'CLAUDE.md': 'more of a' } },
    b: { 'AGENTS.md': t.fixture('symlink', '../a/CLAUDE.md') },
  }
  const top = realpathSync(t.testdir({ top: files, 'CLAUDE.md': 'of a stranger', out: 'out' }))
  const root = join(top, 'top')
  const read = (folder: string, groups = GROUPS) =>
    readProjectInstructions({ root, folder: join(root, folder) }, groups)

  t.strictSame(await read('a'), [
    { name: '../AGENTS.md', text: 'of the top' },
    { name: 'CLAUDE.md', text: 'of a' },
    { name: '.claude/CLAUDE.md', text: 'more of a' },
  ])
  t.strictSame(await read('b'), [
    { name: '../AGENTS.md', text: 'of the top' },
    { name: 'AGENTS.md', text: 'of a' },
  ])
  t.strictSame(await read('a', []), [], 'an agent that reads them by itself')

  mkdirSync(join(root, 'c'))
  symlinkSync(join(top, 'out'), join(root, 'c/CLAUDE.md'))
  t.strictSame((await read('c')).length, 1, 'no link leads out of the repository')
  symlinkSync('../AGENTS.md', join(root, 'c/AGENTS.md'))
  t.strictSame((await read('c')).length, 1, 'no file is there twice')
  rmSync(join(root, 'c/CLAUDE.md'))
  writeFileSync(join(root, 'secrets.env'), 'TOKEN=1\n')
  symlinkSync('../secrets.env', join(root, 'c/CLAUDE.md'))
  t.strictSame((await read('c')).length, 1, 'nor to a file that holds no prose, such as a .env')

  mkdirSync(join(root, 'd'))
  writeFileSync(join(root, 'd/CLAUDE.md'), Buffer.from([0xff, 0xfe, 0x00]))
  t.strictSame((await read('d'))[1], { name: 'CLAUDE.md', text: null })
})

const SETTINGS = `---
providers:
  my-claude: { preset: claude, args: [--setting-sources, project] }
  my-opencode: { preset: opencode, args: [--model, mine] }
---
`
const OWN_ENV = [
  'OPENCODE_DISABLE_PROJECT_CONFIG=1',
  'OPENCODE_DISABLE_EXTERNAL_SKILLS=1',
  '(?:OPENCODE_DISABLE_.*\n)*OPENCODE_CONFIG_CONTENT={"lsp":false,"formatter":false[,}]',
].join('\n')

/** A service whose agents are fakes that write down what they are started with. */
async function recordingService(t: Test) {
  const files = {
    'casefile.md': SETTINGS,
    'AGENTS.md': 'Rules for all agents.\n',
    'CLAUDE.md': 'Rules for Claude.\n',
    '.claude': { 'CLAUDE.md': 'More for Claude.\n' },
  }
  const service = await openTestService(t, { files, trust: true })
  committed(service.root)
  const dir = join(service.stateDir, '..')
  // the agents can write there while they work, too
  const written = mkdtempSync(join(tmpdir(), 'casefile-started-'))
  t.teardown(() => rmSync(written, { recursive: true }))
  const log = join(written, 'started.log')
  // the questions for a version and a login are no runs
  const records = `if [ "$*" != --version ] && [ "$1" != auth ]; then { echo "RUN $(basename "$0") $*"; env | grep -e ^CLAUDE_CODE_DISABLE_ -e ^OPENCODE_DISABLE_ -e ^OPENCODE_CONFIG_CONTENT | sort -r; } >> '${log}'; fi`
  for (const name of ['claude', 'opencode']) {
    program(join(dir, 'bin'), name, `#!/bin/sh\n${records}\nexec '${FAKE_BIN}/${name}' "$@"\n`)
  }
  const { PATH } = process.env
  process.env.PATH = `${join(dir, 'bin')}:${PATH}`
  t.teardown(() => {
    process.env.PATH = PATH
  })
  /** What each run was started with; read once. */
  let read = 0
  const runs = () => {
    const text = existsSync(log) ? readFileSync(log, 'utf8') : ''
    const added = text.slice(read)
    read = text.length
    return added.split(/^RUN /m).slice(1)
  }
  return { service, runs }
}

const CLAUDE =
  /--setting-sources user(?! *,)(?!.*--setting-sources)[\s\S]*\nCLAUDE_CODE_DISABLE_CRON=1\n/
/** For each provider what no run of it may lack, while it plans, plans again and works. */
const SWITCHES: Record<string, RegExp> = {
  claude: CLAUDE,
  'my-claude': CLAUDE,
  opencode: new RegExp(OWN_ENV),
  'my-opencode': new RegExp(OWN_ENV),
}
const INSTRUCTIONS: Record<'claude' | 'opencode', [file: string, text: string][]> = {
  claude: [
    ['CLAUDE.md', 'Rules for Claude.'],
    ['.claude/CLAUDE.md', 'More for Claude.'],
  ],
  opencode: [['AGENTS.md', 'Rules for all agents.']],
}

t.test('an agent ignores the files of a project, and gets its instructions', async (t) => {
  const { service, runs } = await recordingService(t)
  for (const [provider, hasSwitch] of Object.entries(SWITCHES)) {
    await t.test(provider, async (t) => {
      const program = provider.includes('opencode') ? 'opencode' : 'claude'
      const { id } = await must(service, 'POST', '/cases', { title: 'A case' })
      const { ref, session } = await plannedOn(service, id, provider)
      t.match(session, { state: 'plan_ready' }, JSON.stringify(session.trail?.slice(-2)))
      const artifact = (name: string) => readFileSync(service.file(id, 'artifacts', name), 'utf8')
      const loaded = () =>
        /context_loaded .*/.exec(
          lastOf(readFileSync(service.file(id, 'sessions/1.md'), 'utf8')),
        )?.[0]
      const isTold = (name: string) => {
        const prompt = artifact(name)
        for (const [file, text] of INSTRUCTIONS[program]) {
          t.match(prompt, `# Instructions of the project, from ${file}\n\n\`\`\`text\n${text}`)
          t.match(loaded(), file)
        }
        const all = ['Rules for Claude.', 'More for Claude.', 'Rules for all agents.']
        t.equal(all.filter((text) => prompt.includes(text)).length, INSTRUCTIONS[program].length)
      }
      for (const run of runs()) t.match(run, hasSwitch, 'while it plans')
      isTold('1-plan-prompt.md')

      await must(service, 'POST', `${ref.path}/revise`, { note: 'Again.' })
      await reachesAgain(service, ref, 'plan_ready')
      const again = runs()
      t.ok(again.length > 0)
      for (const run of again) t.match(run, hasSwitch, 'while it plans again')

      await finished(service, ref)
      const working = runs()
      t.ok(working.length > 0, 'the agent worked')
      for (const run of working) t.match(run, hasSwitch, 'while it works')
      isTold('1-work-prompt.md')
    })
  }
})

/** From the last time that a prompt was made. */
function lastOf(text: string): string {
  return text.slice(text.lastIndexOf('context_loaded'))
}
