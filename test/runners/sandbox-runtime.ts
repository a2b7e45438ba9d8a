import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { wallsText } from '../../src/model/walls-text.ts'
import { noSandbox, openSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { runStepProcess } from '../../src/runners/enclosure/step-process.ts'
import {
  findRuntime,
  missingText,
  openRuntime,
  RUNTIME,
  runtimeSettings,
} from '../../src/runners/process/sandbox-runtime.ts'
import { inLongLane } from '../fixtures/full.ts'
import { planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

/** A package in the place of sandbox-runtime: like that one, it gives the command to a shell. */
function standIn(folder: string, { isOpen = false, version = '0.0.99' } = {}): string {
  const facts = { name: RUNTIME, version, type: 'module', bin: { srt: 'dist/cli.js' } }
  const closed = isOpen ? '' : "'unshare', '--user', '--map-root-user', '--net', "
  const script = `import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
const [, , option, settings, , ...command] = process.argv
if (option !== '--settings') process.exit(9)
const text = readFileSync(settings, 'utf8')
writeFileSync(${JSON.stringify(join(folder, 'settings.json'))}, text)
const quoted = command.map((word) => \`'\${word.replaceAll("'", "'\\\\''")}'\`).join(' ')
const words = [${closed}'/bin/sh', '-c', quoted]
const { status } = spawnSync(words[0], words.slice(1), { stdio: 'inherit' })
process.exit(status ?? 1)
`
  const path = join(folder, 'dist/cli.js')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(facts))
  writeFileSync(path, script)
  chmodSync(path, 0o755)
  return path
}

/** A folder with the programs that it needs, as far as they are named. */
function programs(folder: string, names: readonly string[]): string {
  mkdirSync(folder, { recursive: true })
  for (const name of names) {
    writeFileSync(join(folder, name), '#!/bin/sh\n')
    chmodSync(join(folder, name), 0o755)
  }
  return folder
}

const linuxOnly = process.platform === 'linux' ? {} : { skip: 'mounts are on Linux only' }

t.test('it is found on the PATH, else above the workspace', async (t) => {
  const dir = t.testdir()
  const root = join(dir, 'project/part')
  mkdirSync(root, { recursive: true })
  const bin = programs(join(dir, 'bin'), ['rg'])
  t.equal(await findRuntime({ root, path: bin }), null)

  const local = standIn(join(dir, 'project/node_modules', RUNTIME))
  const found = await findRuntime({ root, path: bin })
  t.match(found, { script: local, version: '0.0.99', wantsNode: null })
  if (process.platform === 'linux') {
    t.strictSame(found?.missing, ['bwrap', 'socat'])
    t.equal(missingText(['bwrap', 'socat']), 'bwrap, socat (apt install bubblewrap socat)')
  }
  const global = standIn(join(dir, 'lib/node_modules', RUNTIME), { version: '0.1.0' })
  symlinkSync(global, join(bin, 'srt'))
  t.match(await findRuntime({ root, path: bin }), { script: global, version: '0.1.0' })
  const other = programs(join(dir, 'other/bin'), ['srt'])
  t.match(await findRuntime({ root, path: other }), { script: local }, 'srt may be another program')
})

t.test('its settings', (t) => {
  const wall = { hosts: ['example.com'], folders: null }
  t.strictSame(JSON.parse(runtimeSettings(wall, true)), {
    network: { allowedDomains: ['example.com'], deniedDomains: [], allowLocalBinding: true },
    filesystem: { denyRead: [], allowRead: [], allowWrite: ['/'], denyWrite: [] },
    enableWeakerNestedSandbox: true,
  })
  const folders = { writable: ['/w'], readOnly: ['/w/memory'], hidden: ['/state'] }
  t.match(JSON.parse(runtimeSettings({ ...wall, folders }, false)), {
    filesystem: {
      denyRead: ['/state'],
      allowRead: ['/w'],
      allowWrite: ['/w'],
      denyWrite: ['/w/memory'],
    },
    enableWeakerNestedSandbox: undefined,
  })
  t.end()
})

t.test('the programs of a run start below it', { ...linuxOnly, ...inLongLane }, async (t) => {
  const dir = t.testdir({ work: {}, 'read only': {} })
  const [work, closed] = ['work', 'read only'].map((name) => join(dir, name))
  const script = standIn(join(dir, 'package'))
  const env = { PATH: process.env.PATH ?? '' }
  const { signal } = new AbortController()
  const wall = { hosts: ['example.com'], folders: null }
  const mounts = await openSandbox({ readOnly: [closed!], hidden: [], open: [] }, { signal })
  for (const sandbox of [noSandbox(), mounts]) {
    const opened = await openRuntime(sandbox, { script }, wall, { env, signal })
    if ('wrong' in opened) return t.fail(opened.wrong)
    let said = ''
    const { exit } = await runStepProcess({
      argv: [
        '/bin/sh',
        '-c',
        'pwd\nprintf "%s|" "$@"; touch "$1/x" && echo written\nexit 7',
        'a',
        closed!,
        "it's $x `y`\n\\",
      ],
      cwd: work!,
      env,
      timeoutMs: 30_000,
      signal,
      sandbox: opened.sandbox,
      onOutput(_, bytes) {
        said += bytes
      },
    })
    t.equal(exit, 7)
    const words = `${work}\n${closed}|it's $x \`y\`\n\\|`
    t.match(said, words, 'in its folder, with its words as they are')
    t.equal(said.includes('written'), sandbox.kind === 'none', 'the mounts hold')
    t.match(readFileSync(join(dir, 'package/settings.json'), 'utf8'), '"allowedDomains":["example')
    await opened.sandbox.end?.()
  }
})

t.test('what lets programs through, or does not start, is not used', async (t) => {
  const dir = t.testdir()
  const wall = { hosts: [], folders: null }
  const options = { env: { PATH: process.env.PATH ?? '' }, signal: new AbortController().signal }
  const script = standIn(join(dir, 'open'), { isOpen: true })
  const opened = await openRuntime(noSandbox(), { script }, wall, options)
  t.match(opened, { wrong: 'programs reach the network without it' })
  writeFileSync(script, 'console.error("no bwrap here"); process.exit(1)')
  const broken = await openRuntime(noSandbox(), { script }, wall, options)
  t.match(broken, { wrong: 'it does not start here: no bwrap here' })
})

const SETTINGS = '---\nsandbox: { hosts: [example.com] }\n---\n'

async function serviceWith(t: Test, path: string) {
  const before = process.env.PATH
  t.teardown(() => {
    process.env.PATH = before
  })
  process.env.PATH = path
  return openTestService(t, { files: { 'casefile.md': SETTINGS }, trust: true })
}

t.test(
  'with hosts and without the runtime nothing runs',
  { ...linuxOnly, ...inLongLane },
  async (t) => {
    const service = await serviceWith(t, process.env.PATH ?? '')
    const ref = await planned(service, { runbook: step('touch ran') })
    const answer = await service.request('POST', `${ref.path}/approve`)
    t.match(answer, {
      status: 422,
      json: {
        code: 'provider_unavailable',
        detail: /sandbox: hosts\).*is not installed\. Install it: npm install -g @anthropic/,
      },
    })
    t.equal((await service.request('GET', ref.path)).json.state, 'plan_ready')
  },
)

t.test('what held, in words', (t) => {
  const fields = { mode: 'work', hosts: ['a.org'], runtime: '0.0.83' }
  t.equal(
    wallsText({ ...fields, guard: 'mount', writes: ['the working folder'] }),
    'could write only to: the working folder; on the network only: a.org (sandbox-runtime 0.0.83)',
  )
  t.match(
    wallsText({ ...fields, guard: 'comparison', hosts: [], reason: 'no Linux' }),
    /^written everywhere; nothing on the network .* no mounts \(no Linux\), so the case files are/,
  )
  t.end()
})
