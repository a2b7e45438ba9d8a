import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startBuilt } from '../fixtures/built-service.ts'
import { inLongLane } from '../fixtures/full.ts'
import { committed, LIST_PLAN, plannedBy, program } from '../fixtures/plain-agents.ts'
import { finished } from '../fixtures/session-client.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const COPIED = ['src', 'bundle.mjs', 'notices.mjs', 'package.json', 'tsconfig.json']
const NAMES = 'src/model/agent-names.ts'
const AGENTS = 'src/runners/agents'

/** What Copilot prints. */
const event = (type: string, fields: object) => `echo '${JSON.stringify({ type, ...fields })}'`
const message = (content: string) =>
  event('assistant.message', { data: { content } }).replaceAll('\\n', '\\\\n')
const SIXTH = `#!/bin/sh
case "$*" in *--version*) echo 1.0.0; exit ;; esac
cat > /dev/null
case "$*" in
  *--available-tools*) ${message(LIST_PLAN)} ;;
  *) echo made > made.txt; ${message('It is made.')} ;;
esac
${event('result', { exitCode: 0, sessionId: 'a-conversation' })}
`

t.test('an agent is one folder, and its name in the model', inLongLane, async (t) => {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = realpathSync(t.testdir({ copy: {}, root: {}, state: {}, home: {}, bin: {} }))
  const copy = join(dir, 'copy')
  for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))

  const folder = join(copy, AGENTS, 'sixth')
  cpSync(join(copy, AGENTS, 'copilot'), folder, { recursive: true })
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8')
    writeFileSync(join(folder, name), text.replaceAll("'copilot'", "'sixth'"))
  }
  const names = readFileSync(join(copy, NAMES), 'utf8')
  const named = names
    .replace("'copilot'] as const", "'copilot', 'sixth'] as const")
    .replace('  copilot: ', "  sixth: 'The Sixth',\n  copilot: ")
  writeFileSync(join(copy, NAMES), named)

  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: copy })
  run('node_modules/typescript/bin/tsc', '--noEmit', '-p', '.')
  run('bundle.mjs')

  const [root, stateDir, bin] = ['root', 'state', 'bin'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(join(root, 'memory'))
  committed(root)
  program(bin, 'sixth', SIXTH)
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: join(dir, 'home') }
  const service = await startBuilt(t, { root, stateDir, env, cli: join(copy, 'dist/cli.js') })
  const { ref, session } = await plannedBy(service, 'sixth')
  t.match(session, { state: 'plan_ready', hypothesis: 'It is small.' })
  const done = await finished(service, ref)
  t.match(done.session, { state: 'complete', diff: { file: 'made.txt' } })
  await fetch(`${service.url}/agents/found`)
  const setup = await (await fetch(`${service.url}/configure`)).text()
  t.match(setup, 'The Sixth', 'and so are its hooks')
})
