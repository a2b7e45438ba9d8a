import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { CLI } from '../fixtures/cli.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { step } from '../fixtures/session-client.ts'

const SAMPLE = fileURLToPath(new URL('../../sample-workspace', import.meta.url))
const run = promisify(execFile)

interface Line {
  id: string
  created_at: string
  memory: { filename: string; text?: string; base64?: string; error?: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: what a case is, the API's tests say
  [field: string]: any
}

function linesOf(stdout: string): Line[] {
  t.ok(stdout.endsWith('\n'))
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line))
}

t.test(
  'an export has every case, with all that belongs to it, with a service and without',
  async (t) => {
    const cli = cliHere(t)
    const root = ['--root', SAMPLE]
    const lines = linesOf((await cli.run('export', ...root)).stdout)
    t.strictSame(
      lines.map(({ created_at }) => created_at),
      lines.map(({ created_at }) => created_at).sort(),
      'the oldest first',
    )
    t.equal(new Set(lines.map(({ id }) => id)).size, 12)
    const whole = lines.find(({ id }) => id.startsWith('6802b34d'))!
    t.equal(Object.keys(whole)[0], 'export_version')
    t.match(whole, {
      ...{ export_version: 1, state: 'RESOLVED', gate: { open: true, items: [Object, Object] } },
      sessions: [{ number: 1, plan: String, diff: Object }],
      proof: [{ content: String }, { content: String }, { content: String }],
    })
    t.strictSame(
      whole.memory.map(({ filename }) => filename),
      ['case.md', 'review.md', 'runbook.md', '1.md'],
    )
    t.match(whole.memory.at(-1)!.text, /^## Audit trail$/m, 'also what no endpoint tells')
  },
)

t.test('it is the same however it is asked for, and each time', async (t) => {
  const cli = cliHere(t)
  const { json: made } = await cli.run('new', 'Door', '-d', step('echo fine'), '--json')
  await cli.run('start', 'door')
  await cli.run('new', 'Window')
  const folder = join(cli.root, 'memory', 'cases', made.id)
  writeFileSync(join(folder, 'bytes.md'), Buffer.from([0xff, 0, 0x0a]))
  symlinkSync('case.md', join(folder, 'link.md'))
  const alone = await cli.run('export')
  t.match(alone, { code: 0, stderr: '' })
  await cli.serve()
  for (const args of [['export'], ['export', '--json']]) {
    t.equal((await cli.run(...args)).stdout, alone.stdout)
  }
  const [door] = linesOf(alone.stdout)
  t.match(
    door!.memory.find(({ filename }) => filename === 'bytes.md'),
    { base64: '/wAK' },
    'bytes that are no text are not lost',
  )
  t.notOk(door!.memory.some(({ filename }) => filename === 'link.md'))
})

t.test('a file that cannot be read is named, and the rest is exported', async (t) => {
  const cli = cliHere(t)
  const { json } = await cli.run('new', 'Door', '--json')
  await cli.run('new', 'Window')
  const large = join(cli.root, 'memory', 'cases', json.id, 'large.md')
  writeFileSync(large, Buffer.alloc(10 * 1024 * 1024 + 1, 'x'))
  const said = await cli.run('export')
  t.match(said, { code: 1, stderr: /case [0-9a-f-]{36}: large\.md is not read .*over 10 MiB/ })
  const lines = linesOf(said.stdout)
  t.equal(lines.length, 2)
  t.match(
    lines[0]!.memory.find(({ filename }) => filename === 'large.md'),
    { error: /10 MiB/ },
  )
})

t.test('a reader that has seen enough ends it', async (t) => {
  const { stdout } = await run('sh', [
    '-c',
    '"$0" "$1" export --root "$2" --state-dir "$3" | head -n 1',
    ...[process.execPath, CLI, SAMPLE, t.testdir()],
  ])
  t.equal(linesOf(stdout).length, 1)
})

t.test('of no case nothing is exported', async (t) => {
  t.match(await cliHere(t).run('export'), { code: 0, stdout: '', stderr: '' })
})
