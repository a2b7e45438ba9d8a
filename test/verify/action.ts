import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import * as z from 'zod'
import { CLI } from '../fixtures/cli.ts'
import { readPage } from '../fixtures/doc-code.ts'
import { blocksOf } from '../fixtures/doc-pages.ts'
import { git } from '../fixtures/git-repository.ts'
import {
  type Claimed,
  type ClaimedRepository,
  openRepository,
  provedWork,
} from '../fixtures/verify/claimed-work.ts'

const actionSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  branding: z.strictObject({ icon: z.string(), color: z.string() }),
  inputs: z.record(z.string(), z.strictObject({ description: z.string(), default: z.string() })),
  outputs: z.record(z.string(), z.strictObject({ description: z.string(), value: z.string() })),
  runs: z.strictObject({
    using: z.literal('composite'),
    steps: z.array(
      z.strictObject({
        id: z.string(),
        shell: z.literal('bash'),
        env: z.record(z.string(), z.string()),
        run: z.string(),
      }),
    ),
  }),
})

const action = actionSchema.parse(
  parse(readFileSync(new URL('../../action.yml', import.meta.url), 'utf8')),
)
const step = action.runs.steps[0]!

type Inputs = Record<string, string>

/** Runs the step as the runner does, with an npx that takes the built program, and gives what the step left. */
function runStep(cwd: string, inputs: Inputs = {}, variables: Record<string, string> = {}) {
  const folder = join(dirname(cwd), 'runner')
  mkdirSync(join(folder, 'bin'), { recursive: true })
  mkdirSync(join(folder, 'temporary'), { recursive: true })
  const npx = `#!/bin/sh
printf '%s\\n' "$PWD" "$@" "" >> '${folder}/calls'
shift 2
exec '${process.execPath}' '${CLI}' "$@"
`
  writeFileSync(join(folder, 'bin/npx'), npx)
  chmodSync(join(folder, 'bin/npx'), 0o755)
  writeFileSync(join(folder, 'script.sh'), step.run)
  for (const name of ['calls', 'output', 'summary']) writeFileSync(join(folder, name), '')
  const values = Object.entries(step.env).map(([name, text]) => [name, evaluated(text, inputs)])
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-e', '-o', 'pipefail', join(folder, 'script.sh')],
    {
      cwd,
      encoding: 'utf8',
      env: {
        PATH: `${folder}/bin:${process.env.PATH}`,
        HOME: folder,
        TMPDIR: join(folder, 'temporary'),
        GITHUB_OUTPUT: join(folder, 'output'),
        GITHUB_STEP_SUMMARY: join(folder, 'summary'),
        ...Object.fromEntries(values),
        ...variables,
      },
    },
  )
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return {
    code: status,
    stdout,
    stderr,
    calls: read('calls')
      .split('\n\n')
      .slice(0, -1)
      .map((call) => call.split('\n')),
    output: read('output'),
    summary: read('summary'),
  }
}

/** The only expressions are inputs. */
function evaluated(text: string, inputs: Inputs): string {
  const [, name = ''] = /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(text)!
  return inputs[name] ?? action.inputs[name]!.default
}

const missing = ['bash', 'git', 'od'].filter((name) => spawnSync(name, ['--version']).status !== 0)
const skip = missing.length > 0 && `${missing} not installed`

t.test('action.yml', async (t) => {
  t.test('puts no expression into its script', async (t) => {
    for (const { run } of action.runs.steps) t.notMatch(run, '${{')
    for (const name of Object.keys(action.inputs)) {
      t.equal(Object.values(step.env).filter((text) => text === `\${{ inputs.${name} }}`).length, 1)
    }
  })
  t.test('has the inputs that docs/verify.md names', async (t) => {
    const page = readPage('docs/verify.md')
    const [, table = ''] = /^input \| default\n([\s\S]*?)\n\n/m.exec(page)!
    const listed = [...table.matchAll(/`([a-z-]+)`(?=[^|\n]*\|[^|\n]+$|, `)/gm)].map(
      ([, name]) => name,
    )
    t.strictSame(listed.sort(), Object.keys(action.inputs).sort())
    const steps = blocksOf(page).filter(({ code }) => code.includes('OWNER/casefile@'))
    const { with: used } = parse(steps[0]!.code).jobs.casefile.steps[1]
    for (const name of Object.keys(used)) t.ok(action.inputs[name], name)
  })
  t.test('sets no variable that casefile, git or npm reads', async (t) => {
    for (const name of Object.keys(step.env)) t.match(name, /^VERIFY_[A-Z_]+$/)
  })
})

t.test('the step of the action', { skip }, async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  await service.close()
  repo.commit(`Change the price\n\n${work.trailer}\n`)
  const range = 'HEAD~1..'

  await t.test('passes, and writes the summary', async (t) => {
    const ran = runStep(repo.root, { range, 'comment-file': 'out.md', 'require-trailer': 'true' })
    t.match(ran, { code: 0, output: 'result=passed\n', summary: /^### ✅[\s\S]*Change price/ })
    t.match(ran.stdout, /^verified .*Change the price$/m)
    t.equal(readFileSync(join(repo.root, 'out.md'), 'utf8'), ran.summary)
    const [first, second] = ran.calls
    const options = ['--root', `${repo.root}/.`, '--require-trailer']
    t.strictSame(first!.slice(1), [
      '--yes',
      'casefile@latest',
      'verify-commits',
      ...options,
      '--markdown',
      '--',
      range,
    ])
    t.strictSame(second!.slice(1), [
      '--yes',
      'casefile@latest',
      'verify-commits',
      ...options,
      '--',
      range,
    ])
    t.notMatch(first![0], repo.root, 'not in the repository, whose .npmrc npx would read')
  })

  await t.test('takes the range of a pull request', async (t) => {
    const copy = repo.copy('pull-request/code')
    copy.git('update-ref', 'refs/remotes/origin/main', 'HEAD~1')
    const ran = runStep(copy.root, {}, { GITHUB_BASE_REF: 'main' })
    t.match(ran, { code: 0, summary: /1 commit in origin\/main\.\.HEAD/ })
  })

  await t.test('fails where verify fails', async (t) => {
    const copy = repo.copy('false/code')
    copy.commit(`Another\n\n${work.trailer.replace('/1 ', '/9 ')}\n`)
    const ran = runStep(copy.root, { range })
    t.match(ran, { code: 1, output: 'result=failed\n', summary: /^### ❌/, stdout: /no_session/ })
  })

  await t.test('a signature can be required', async (t) => {
    const inputs = { range, 'require-signature': 'true', 'allowed-signers': 'keys' }
    t.match(runStep(repo.root, inputs), { code: 2, output: 'result=unchecked\n' })
    writeFileSync(join(repo.root, 'keys'), '')
    t.match(runStep(repo.root, inputs), { code: 1, summary: /unsigned/ })
  })

  await t.test('says what is missing in a shallow clone, or without git', async (t) => {
    const shallow = join(dirname(repo.root), 'shallow/code')
    execFileSync('git', ['clone', '-q', '--depth', '1', `file://${repo.root}`, shallow])
    const wanted = {
      code: 2,
      output: 'result=unchecked\n',
      calls: [],
      stdout: /^::error .*fetch-depth: 0/,
    }
    t.match(runStep(shallow), wanted)
    t.match(runStep(repo.root, { root: 'memory/nowhere' }), wanted)
  })

  await t.test('npx that fails is no false claim', async (t) => {
    const ran = runStep(
      repo.root,
      { range, version: '1.2.3-rc.1' },
      { NODE_OPTIONS: '--no-such-option' },
    )
    t.match(ran, { code: 2, output: 'result=unchecked\n', summary: '' })
    t.match(ran.calls[0], { 2: 'casefile@1.2.3-rc.1' })
  })

  await hostile(t, repo, work)
  await ownRepository(t, repo)
})

async function hostile(t: Test, repo: ClaimedRepository, work: Claimed) {
  const texts = [
    '; touch x',
    '$(touch x)',
    "'; touch x; '",
    '"; touch x; "',
    '-n1',
    'HEAD\ntouch x',
  ]
  await t.test('an input is never run', async (t) => {
    const { root } = repo.copy('hostile/code')
    const before = readdirSync(root)
    const names = Object.keys(action.inputs).filter((name) => name !== 'comment-file')
    for (const text of texts) {
      for (const name of text.includes(';') ? names : ['range', 'version']) {
        const { code, output } = runStep(root, { range: 'HEAD~1..', [name]: text })
        const wanted = { name, code: 2, output: 'result=unchecked\n' }
        t.strictSame({ name, code, output }, wanted)
      }
    }
    t.strictSame(readdirSync(root), before)
    const name = '$(touch x); touch x'
    t.equal(runStep(root, { range: 'HEAD~1..', 'comment-file': name }).code, 0)
    t.strictSame(
      readdirSync(root).filter((each) => !before.includes(each)),
      [name],
    )
  })

  await t.test('what is printed gives no command to the runner', async (t) => {
    const copy = repo.copy('commands/code')
    copy.commit(`::error::one\n\nCasefile-Session: ::add-mask::two\n${work.trailer}\n`)
    const { stdout, output } = runStep(copy.root, { range: 'HEAD~1..' })
    const lines = stdout.split('\n').filter((line) => line.trimStart().startsWith('::'))
    const [, token] = /^::stop-commands::([0-9a-f]{32})$/.exec(lines[0]!)!
    t.strictSame(lines.slice(1), ['    ::add-mask::two', `::${token}::`])
    t.equal(output, 'result=failed\n')
  })
}

async function ownRepository(t: Test, repo: ClaimedRepository) {
  await t.test('the record may be in another repository, checked out as memory/', async (t) => {
    const { root } = repo.copy('own-repository/code')
    const record = join(root, 'memory')
    renameSync(record, join(root, '../record'))
    git(root, 'rm', '-r', '-q', '--cached', 'memory')
    git(root, 'commit', '-q', '--amend', '--no-edit')
    renameSync(join(root, '../record'), record)
    git(record, 'init', '-q', '-b', 'main')
    git(record, 'add', '.')
    git(record, 'commit', '-q', '-m', 'Cases')
    const ran = runStep(root, { range: 'HEAD~1..' })
    t.match(ran, { code: 0, output: 'result=passed\n' }, ran.stdout)
  })
}
