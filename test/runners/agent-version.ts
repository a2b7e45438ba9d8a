import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { agentVersion } from '../../src/runners/agents/agent-version.ts'
import { inLongLane } from '../fixtures/full.ts'

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' }
const spec = {
  title: 'Agent',
  version: ['--version'],
  bad: [{ below: '2.1.0', why: 'it writes while it plans' }],
}

/** A program of this script, which writes down that it ran. */
function program(t: Test, script: string) {
  const cwd = t.testdir({ agent: `#!/bin/sh\necho ran >> ran\n${script}\n` })
  const path = `${cwd}/agent`
  chmodSync(path, 0o755)
  return { path, cwd, env }
}

function runs(cwd: string): number {
  return existsSync(`${cwd}/ran`) ? readFileSync(`${cwd}/ran`, 'utf8').trim().split('\n').length : 0
}

t.test('a version is read from what the program says', async (t) => {
  const warning = (version: string) => `Agent ${version} is below 2.1.0: it writes while it plans`
  const cases: [name: string, script: string, found: object][] = [
    ['alone', 'echo 2.1.0', { version: '2.1.0' }],
    ['behind its name', 'echo codex-cli 3.169.0', { version: '3.169.0' }],
    ['before its name', 'echo "2.1.328 (Claude Code)"', { version: '2.1.328' }],
    ['in a sentence', 'echo "Copilot CLI 10.0.102."; echo "Run x"', { version: '10.0.102' }],
    ['with a v', 'echo v2.9.1', { version: '2.9.1' }],
    ['one that is bad', 'echo 2.0.99', { version: '2.0.99', warning: warning('2.0.99') }],
    [
      'a preview of one',
      'echo 2.1.0-rc.1',
      { version: '2.1.0-rc.1', warning: warning('2.1.0-rc.1') },
    ],
    ['no version', 'echo hello; echo 2.0', { version: null }],
    ['a version in its complaints', 'echo 2.1.0 >&2; exit 1', { version: null }],
    ['nothing', 'exit 3', { version: null }],
    ['too much', 'yes | head -c 1000000', { version: null }],
  ]
  for (const [name, script, found] of cases) {
    t.test(name, async (t) => t.strictSame(await agentVersion(spec, program(t, script)), found))
  }
})

t.test('one that does not say it has that of its package', async (t) => {
  const folder = t.testdir({
    'package.json': JSON.stringify({ version: '2.0.4', bin: { agent: 'dist/index.js' } }),
    dist: { 'index.js': '#!/bin/sh\nexit 0\n', 'other.js': '#!/bin/sh\nexit 0\n' },
    bin: { agent: t.fixture('symlink', '../dist/index.js') },
  })
  for (const name of ['index.js', 'other.js']) chmodSync(`${folder}/dist/${name}`, 0o755)
  const bad = [{ below: '2.1.0', why: 'it is old' }]
  const found = await agentVersion(
    { ...spec, bad },
    { path: `${folder}/bin/agent`, cwd: folder, env },
  )
  t.strictSame(found, {
    version: '2.0.4',
    warning: 'Agent 2.0.4 is below 2.1.0: it is old',
  })
  const other = await agentVersion(spec, { path: `${folder}/dist/other.js`, cwd: folder, env })
  t.strictSame(other, { version: null })
})

t.test('it is asked once, until its file changes', async (t) => {
  const place = program(t, 'echo 2.1.5')
  await agentVersion(spec, place)
  t.match(await agentVersion(spec, place), { version: '2.1.5' })
  t.equal(runs(place.cwd), 1)
  t.match(
    await agentVersion({ ...spec, bad: [{ below: '3.0.0', why: 'x' }] }, place),
    { warning: /3\.0\.0/ },
    'what is known against it is not kept',
  )
  writeFileSync(place.path, '#!/bin/sh\necho 2.10.1\n')
  t.match(await agentVersion(spec, place), { version: '2.10.1' })
})

t.test('one that has no way to say it is not run', async (t) => {
  const place = program(t, 'echo 2.1.5')
  t.strictSame(await agentVersion({ ...spec, version: [] }, place), { version: null })
  t.equal(runs(place.cwd), 0)
})

t.test('one that never ends is ended', inLongLane, async (t) => {
  const began = performance.now()
  const found = await agentVersion(spec, program(t, 'echo $$ > pid; sleep 60'))
  t.strictSame(found, { version: null })
  t.ok(performance.now() - began < 9_000)

  const abort = new AbortController()
  abort.abort()
  const place = program(t, 'echo 2.1.5')
  t.strictSame(await agentVersion(spec, { ...place, signal: abort.signal }), { version: null })
  t.equal(runs(place.cwd), 0)
  t.match(await agentVersion(spec, place), { version: '2.1.5' }, 'and asked again another time')
})
