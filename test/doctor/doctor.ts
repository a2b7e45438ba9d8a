import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { doctor } from '../../src/doctor/doctor-command.ts'
import { createTrustFile } from '../../src/settings/trust-file.ts'
import { trust } from '../../src/trust/trust-command.ts'
import { inLongLane } from '../fixtures/full.ts'

/** Speaks as much of the Agent Client Protocol as opens a session; its arguments are its modes. */
const ACP = `
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const [, script, ...modes] = process.argv
writeFileSync(script + '.started', process.cwd())
if (modes[0] === 'none') process.exit(5)
const availableModes = modes.map((id) => ({ id, name: id }))
const answers = {
  initialize: { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: 'fake', version: '9.8.7' } },
  'session/new': { sessionId: 'one', modes: { currentModeId: modes[0], availableModes } },
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  if (method in answers) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }))
}`

/** Answers with its version, else keeps its words and speaks ACP. */
const OPENCODE = `#!/bin/sh
case "$1" in --version) echo 1.18.33 ;; *) echo "$@" >> "$0.words"; exec '${process.execPath}' "$0.mjs" build plan ;; esac
`

interface Scene {
  /** Lines of casefile.md's frontmatter. */
  settings?: string[]
  isTrusted?: boolean
  /** Below the folder that has the workspace in it as `root`. */
  home?: string
  /** What comes into the workspace after it was trusted. */
  later?: (root: string, stateDir: string) => void | Promise<void>
}

async function runDoctor(t: Test, { settings = [], isTrusted = false, home = '', later }: Scene) {
  const dir = t.testdir({
    root: { 'casefile.md': ['---', ...settings, '---', ''].join('\n'), memory: {} },
    state: {},
    bin: { opencode: OPENCODE, 'opencode.mjs': ACP, 'mine.mjs': ACP },
  })
  const [root, stateDir, bin] = ['root', 'state', 'bin'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  chmodSync(join(bin, 'opencode'), 0o755)
  const quiet = () => {}
  if (isTrusted)
    await trust({ root, stateDir, yes: true }, { print: quiet, warn: quiet, ask: null })
  await later?.(root, stateDir)
  let text = ''
  const print = (more: string) => {
    text += more
  }
  const environment = { PATH: `${bin}:/usr/bin:/bin`, HOME: join(dir, home) }
  const code = await doctor({ root, stateDir }, { print, warn: quiet }, environment)
  return { code, text, bin, root, stateDir }
}

t.test('says what there is, and talks to what speaks ACP', async (t) => {
  const { code, text, bin } = await runDoctor(t, {})
  t.equal(code, 0)
  t.match(text, /^git +\d/m)
  t.match(text, /^casefile\.md +asks for nothing that needs trust$/m)
  t.match(text, /^read-only mount +(works|does not work here: .+)$/m)
  t.match(text, /^runbook \(default\) +- +runs nothing +- +built in$/m)
  t.match(text, `1.18.33`)
  t.match(text, new RegExp(`^opencode +1\\.18\\.33 +tools +unknown +${bin}/opencode$`, 'm'))
  t.match(text, /^codex +- .* npm install -g @openai\/codex$/m)
  t.match(text, /^agent files +none that need trust$/m)
  t.match(text, /^notify +nowhere; see notify in docs\/settings\.md$/m)
  t.match(text, /^hooks +none; casefile agent install gates/m)
  t.match(text, /^sandbox-runtime +not installed\. With it, runs reach only/m)
})

t.test('what is not trusted is said, and not started', async (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the setting names a variable
  const settings = ['notify: [{ slack: "${MY_HOOK}" }]', 'provider: mine', 'providers:']
  const mine = `  mine: { kind: acp, command: [../bin/opencode, acp] }`
  const plugin = (root: string) => {
    mkdirSync(join(root, '.opencode/plugins'), { recursive: true })
    writeFileSync(join(root, '.opencode/plugins/x.js'), '')
  }
  const open = await runDoctor(t, { settings: [...settings, mine] })
  t.match(open.text, /^casefile\.md +not trusted; review it with: casefile doctor --trust$/m)
  t.match(open.text, /^notify +slack \(not trusted\); try it/m)
  t.match(open.text, /^mine \(default\) .*\(not trusted\)$/m)

  const files = await runDoctor(t, {
    settings: [...settings, mine],
    isTrusted: true,
    later: plugin,
  })
  t.match(files.text, /^agent files +not trusted: \.opencode\/plugins\/x\.js; review/m)
  t.match(files.text, /^notify +slack \(MY_HOOK is not set here\); try it/m)
  t.match(files, { code: 0, text: /^mine: handshake with version/m })
  t.equal(readFileSync(join(files.bin, 'opencode.words'), 'utf8'), 'acp\n', 'once trusted')

  const fewer = await runDoctor(t, {
    settings: ['hide: [secrets]'],
    isTrusted: true,
    async later(root, stateDir) {
      const file = createTrustFile(stateDir, root, () => {})
      const restrictions = {
        hide: ['secrets'],
        cache: null,
        sandbox: 'mounts',
        checklist: [],
        signApprovals: false,
        isolation: 'none',
      } as const
      await file.restrict(restrictions)
      writeFileSync(join(root, 'casefile.md'), '---\nprovider: claude\n---\n')
    },
  })
  t.match(fewer.text, /^casefile\.md +changed since it was trusted; review it/m)
  const missing = /cannot use claude: claude is not on the PATH\. Install it: npm install -g /
  t.match(fewer, { code: 1, text: missing })
})

t.test('an agent that speaks ACP is given its words', async (t) => {
  const settings = [
    'provider: mine',
    'providers:',
    '  mine: { kind: acp, command: [../bin/opencode, acp, --mine] }',
  ]
  const { code, text, bin } = await runDoctor(t, { settings, isTrusted: true })
  t.equal(code, 0)
  t.match(
    text,
    /^mine: handshake with version 9\.8\.7; it offers the modes build, plan, and would plan in plan$/m,
  )
  t.equal(readFileSync(join(bin, 'opencode.words'), 'utf8'), 'acp --mine\n')
})

t.test('a name of an agent by ACP says which one to use', inLongLane, async (t) => {
  for (const settings of [
    ['provider: claude-agent-acp'],
    ['provider: claude-acp'],
    ['provider: mine', 'providers:', '  mine: { preset: claude-agent-acp }'],
  ]) {
    const { code, text } = await runDoctor(t, { settings, isTrusted: true })
    t.match(
      { code, text },
      { code: 1, text: /Use "claude": Casefile runs this agent by its command/ },
    )
  }
})

t.test('an exit code for the provider of new sessions', inLongLane, async (t) => {
  const mine = (...modes: string[]) => {
    const words = JSON.stringify([process.execPath, '../bin/mine.mjs', ...modes])
    return ['provider: mine', 'providers:', `  mine: { kind: acp, command: ${words} }`]
  }
  const cases: [name: string, scene: Scene, code: number, said: RegExp][] = [
    [
      'it is not trusted',
      { settings: mine('plan') },
      1,
      /cannot use mine: .*casefile doctor --trust/,
    ],
    [
      'it cannot plan',
      { settings: mine('fast'), isTrusted: true },
      1,
      /cannot use mine: it offers no mode for planning/,
    ],
    [
      'it ends at once',
      { settings: mine('none'), isTrusted: true },
      1,
      /^mine: no handshake: .*cannot use mine: /ms,
    ],
    [
      'there is none such, and the sandbox is the one of a session',
      { settings: ['provider: nobody'], home: 'root/memory' },
      1,
      process.platform === 'linux'
        ? /^read-only mount +does not work here: .*home folder lies within.*There is no provider "nobody"/ms
        : /There is no provider "nobody"/,
    ],
    [
      'another one ends at once',
      { settings: mine('none').slice(1), isTrusted: true },
      0,
      /^mine: no handshake: /m,
    ],
  ]
  for (const [name, scene, code, said] of cases) {
    await t.test(name, async (t) => {
      const found = await runDoctor(t, scene)
      t.equal(found.code, code)
      t.match(found.text, said)
      t.equal(existsSync(join(found.bin, 'mine.mjs.started')), scene.isTrusted === true)
    })
  }
})
