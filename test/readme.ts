import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createApp } from '../src/http/app.ts'
import { createStreamRegistry } from '../src/http/sse/stream-registry.ts'
import { SETTING_KEYS } from '../src/markdown/settings-file.ts'
import { ERROR_CODES } from '../src/model/app-error.ts'
import { PROBLEM_CODES } from '../src/model/problem.ts'
import { SESSION_STATES } from '../src/model/session-state.ts'
import { openService } from '../src/service.ts'
import { endpointsOn } from './fixtures/api-page.ts'
import { runBuilt, started } from './fixtures/built-service.ts'
import { inLongLane } from './fixtures/full.ts'

const page = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8')
const readme = page('README.md')
const api = page('docs/api.md')
const needsCurl =
  spawnSync('curl', ['--version']).status === 0 ? inLongLane : { skip: 'curl is not installed' }

/** The `sh` fences of docs/api.md that take a case from its creation to RESOLVED. */
const [, flowText = ''] = api.split('\n## The whole flow\n')
const flow = [...flowText.split('\n## ')[0]!.matchAll(/^```sh\n(.*?)^```$/gms)].map(
  (match) => match[1]!,
)

const ADDRESS = 'http://127.0.0.1:7878'

/** As `npm start` does, in a folder that stands for the checkout; on the page's port if that is free. */
async function startSample(t: Test): Promise<{ folder: string; url: string }> {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const folder = t.testdir()
  const env = { XDG_STATE_HOME: join(folder, 'state') }
  const made = await runBuilt(['sample', 'workspace', '--keep'], env, folder)
  t.match(made, { code: 0, stdout: '', stderr: '' }, 'making the copy says nothing')
  const serve = (port: string) =>
    started(['serve', '--root', 'workspace', '--port', port], env, folder)
  const service = await serve('7878').catch((error: Error) => {
    if (/Port 7878 .* is in use/.test(error.message)) return serve('0')
    throw error
  })
  t.teardown(() => service.stop('SIGTERM'))
  return { folder, url: service.url }
}

/** Runs blocks in one shell, as somebody who pastes them; gives what each printed. */
async function paste(t: Test, blocks: string[]): Promise<string[]> {
  const { folder, url } = await startSample(t)
  const script = blocks.map((block) => `${block}\nprintf '\\n<<end of block>>\\n'\n`).join('')
  const who = ['AUTHOR_NAME', 'AUTHOR_EMAIL', 'COMMITTER_NAME', 'COMMITTER_EMAIL']
  const child = spawn('sh', ['-euc', script.replaceAll(ADDRESS, url)], {
    cwd: join(folder, 'workspace'),
    env: {
      ...process.env,
      ...Object.fromEntries(who.map((name) => [`GIT_${name}`, 'reader@example.invalid'])),
      GIT_CONFIG_GLOBAL: '/dev/null',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text
  })
  const [code] = await once(child, 'close')
  t.equal(code, 0, said.stdout + said.stderr)
  t.equal(said.stderr, '', 'nothing is complained about')
  return said.stdout.split('\n<<end of block>>\n')
}

const flowPromises: [what: string, printed: RegExp | Record<string, unknown>][] = [
  ['the service is well', { status: 'ok', problems: [] }],
  ['the checklist has an item', { description: 'All tests pass', required: true }],
  ['the runbook is written', { filename: 'runbook.md' }],
  ['the session waits', /^$/],
  ['the plan is approved', /## Plan[\s\S]*\{"id":.*"state":"approved"/],
  ['the stream goes to the end', /event: session_completed\nid: \d+\n/],
  ['the gate says what is missing', /"passed":23,"failed":0[\s\S]*\{"open":false,/],
  ['the proof is verified', { type: 'test-log', verified: true }],
  ['the case is resolved', { state: 'RESOLVED', problems: [] }],
]

t.test('the flow of docs/api.md can be pasted', needsCurl, async (t) => {
  t.equal(flow.length, flowPromises.length)
  const printed = await paste(t, flow)
  for (const [index, [what, promised]] of flowPromises.entries()) {
    const text = printed[index]!
    t.match(promised instanceof RegExp ? text : JSON.parse(text), promised, what)
  }
})

t.test('the pitch comes first, what contributors need last', async (t) => {
  t.match(readme, /^# Casefile\n\n\*\*Approve what your coding agent does/)
  t.match(readme, /```console\nnpm ci && npm start .*\nnpm run demo /)
  t.match(readme, /```console\nnpm ci && npm test\n```\n$/)
})

t.test('the docs leave nothing out', async (t) => {
  t.test('docs/api.md has every endpoint, and no other', async (t) => {
    t.teardown(() => {})
    const folder = t.testdir({ root: {}, state: {} })
    const service = await openService({
      root: join(folder, 'root'),
      stateDir: join(folder, 'state'),
      dev: true,
    })
    t.teardown(() => service.close())
    const app = createApp(service, { port: () => 0, streams: createStreamRegistry() })
    const routes = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace(/(?<=.)\/$/, '')}`)
    routes.push('GET /cases/:id/proof/checklist') // at the path of one proof
    t.strictSame(endpointsOn(page('docs/api.md')).sort(), [...new Set(routes)].sort())
  })

  const tables: [file: string, of: string, codes: readonly string[]][] = [
    ['docs/sessions.md', 'session state', SESSION_STATES],
    ['docs/settings.md', 'setting', SETTING_KEYS],
    ['docs/problems.md', 'problem', PROBLEM_CODES],
  ]
  for (const [file, of, codes] of tables) {
    t.test(`${file} has a row for every ${of}`, async (t) => {
      const rows = [...page(file).matchAll(/^(?:\| )?`([a-z_]+)` \|/gm)].map((match) => match[1]!)
      for (const code of codes) t.ok(rows.includes(code), code)
    })
  }

  t.test('docs/api.md has every error code', async (t) => {
    const [, errors = ''] = api.split(/\n## (?:Errors|Limits)\n/)
    for (const code of ERROR_CODES) t.match(errors, `\`${code}\``, code)
  })

  t.test('the examples in docs/files.md are the files of the sample', async (t) => {
    const examples = [...page('docs/files.md').matchAll(/^`(\S+)`:\n\n````markdown\n(.*?)````$/gms)]
    t.equal(examples.length, 3)
    for (const [, path, text = ''] of examples) {
      // a line with only … stands for lines that are left out
      const [begin = '', end] = text.split(/(?<=\n)…\n/)
      const whole = page(`sample-workspace/${path}`)
      if (end === undefined) t.equal(text, whole, path!)
      else t.ok(whole.startsWith(begin) && whole.endsWith(end), path!)
    }
  })
})

t.test(
  'what it says of the terminal works as it stands, on a fresh sample',
  inLongLane,
  async (t) => {
    const from = readme.indexOf('\n## In the terminal\n')
    const [, block = ''] = /^```console\n(.*?)^```$/ms.exec(readme.slice(from)) ?? []
    const said = await casefileShell(
      t,
      block.replace(/^casefile (?:approve|prove verify) [^#\n]*/gm, '$& --yes '),
    )
    t.match(
      said,
      /the plan of session 1 waits[\s\S]*23 of 23 tests pass[\s\S]*test-log of session 1, not verified, 23 of 23 tests passed[\s\S]* verified, 23 of 23/,
    )
    t.match(
      said,
      /RESOLVED {2}Signed out again right after[\s\S]*The plan of session 1 waits for approval/,
    )
  },
)

/** What a shell printed in which `casefile` is the built program, and no service runs. */
async function casefileShell(t: Test, script: string): Promise<string> {
  t.teardown(() => {})
  const folder = t.testdir()
  const env = { XDG_STATE_HOME: join(folder, 'state') }
  await runBuilt(['sample', 'workspace'], env, folder)
  const program = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
  const casefile = 'casefile() { "$NODE" "$PROGRAM" "$@"; }'
  const child = spawn('sh', ['-euc', `${casefile}\n${script}`], {
    cwd: folder,
    env: { ...process.env, ...env, NODE: process.execPath, PROGRAM: program },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const [code] = await once(child, 'close')
  t.equal(code, 0, said)
  return said
}
