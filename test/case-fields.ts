import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { startBuilt } from './fixtures/built-service.ts'
import { connect } from './fixtures/event-source.ts'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))
const PARTS = ['src', 'package.json', 'tsconfig.json', 'bundle.mjs', 'notices.mjs', 'LICENSE']

/** What somebody would write who wants a field. */
const ROW = `
  severity: {
    kind: 'word',
    label: 'Severity',
    about: 'How bad it is',
    example: 'S1',
    pattern: /^S[1-4]$/,
    rule: 'S1, S2, S3 or S4',
    option: '--severity <level>',
    filter: 'severity',
  },
`

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'casefile-field-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

/** The path of a program whose table of fields has one row more. */
function programWithField(): string {
  for (const name of PARTS) cpSync(join(PROJECT, name), join(folder, name), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  const path = join(folder, 'src/model/case-fields.ts')
  const text = readFileSync(path, 'utf8')
  const end = text.indexOf('\n} as const satisfies')
  writeFileSync(path, `${text.slice(0, end)}${ROW.trimEnd()}${text.slice(end)}`)
  execFileSync(process.execPath, ['bundle.mjs'], { cwd: folder, stdio: 'inherit' })
  return join(folder, 'dist/cli.js')
}

t.test('a field that is added to the table alone is found everywhere', async (t) => {
  const cli = programWithField()
  const root = join(folder, 'workspace')
  const stateDir = join(folder, 'state')
  mkdirSync(root)
  mkdirSync(stateDir, { mode: 0o700 })
  writeFileSync(join(root, 'casefile.md'), '')
  const options = { root, stateDir }

  const before = await startBuilt(t, options)
  const old = (await before.request('POST', '/cases', { title: 'Older than the field' })).json
  t.notOk('severity' in old, 'the program as it is knows no such field')
  await before.stop()

  const service = await startBuilt(t, { ...options, cli })
  const casefile = (...args: string[]) =>
    run(process.execPath, [cli, ...args, '--root', root, '--state-dir', stateDir], { cwd: root })
  const bodyOf = (path: string) => service.request('GET', path).then(({ json }) => json)
  const titles = async (path: string) =>
    (await bodyOf(path)).map(({ title }: { title: string }) => title).sort()

  const made = await service.request('POST', '/cases', { title: 'With it', severity: 'S2' })
  const { id } = made.json

  await t.test('in the file of a case, and in JSON', async (t) => {
    const file = join(root, 'memory/cases', id, 'case.md')
    t.equal(made.json.severity, 'S2')
    t.match(readFileSync(file, 'utf8'), /^severity: S2$/m)
    t.equal((await service.request('PUT', `/cases/${id}`, { severity: 'S1' })).json.severity, 'S1')
    t.match(readFileSync(file, 'utf8'), /^severity: S1$/m)
    t.equal((await service.request('PUT', `/cases/${id}`, { severity: null })).json.severity, null)
    await service.request('PUT', `/cases/${id}`, { severity: 'S1' })
    t.equal((await bodyOf(`/cases/${id}`)).severity, 'S1')
    t.equal((await bodyOf(`/cases/${old.id}`)).severity, null, 'an older case has none')
    t.notMatch(readFileSync(join(root, 'memory/cases', old.id, 'case.md'), 'utf8'), /severity/)
  })

  await t.test('in checks', async (t) => {
    for (const [method, path] of [
      ['POST', '/cases'],
      ['PUT', `/cases/${id}`],
    ] as const) {
      const refused = await service.request(method, path, { title: 'Wrong', severity: 'high' })
      t.equal(refused.status, 400)
      t.match(refused.json.detail, /^severity: expected S1, S2, S3 or S4; got the string "high"/)
    }
    const file = join(root, 'memory/cases', old.id, 'case.md')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('\ntype:', '\nseverity: high\ntype:'))
    const { problems } = await bodyOf(`/cases/${old.id}`)
    t.match(problems, [{ code: 'wrong_type', message: /^severity: expected S1/ }], 'of a file too')
    writeFileSync(file, text)
  })

  await t.test('in the description of the API', async (t) => {
    const { components, paths } = await bodyOf('/openapi.json')
    t.match(components.schemas.Case, {
      required: /severity/,
      properties: { severity: { type: ['string', 'null'], description: 'How bad it is.' } },
    })
    for (const name of ['NewCase', 'CaseUpdate']) {
      t.match(components.schemas[name].properties.severity, { pattern: '^S[1-4]$' })
    }
    const names = paths['/cases'].get.parameters.map(({ name }: { name: string }) => name)
    t.ok(names.includes('severity'), 'also as a filter')
  })

  await t.test('in lists, filters and search', async (t) => {
    t.strictSame(await titles('/cases?severity=S1,S2'), ['With it'])
    t.strictSame(await titles('/triage?severity=S1'), ['With it'])
    t.strictSame(await titles('/search?q=severity:S1'), ['With it'])
    t.strictSame(await titles('/search?q=with&severity=S3'), [])
    const [row] = await bodyOf('/triage?severity=S1')
    t.equal(row.severity, 'S1')
    t.match((await casefile('list', '--severity', 'S1')).stdout, /With it/)
    t.notMatch((await casefile('list', '--severity', 'S1')).stdout, /Older/)
  })

  await t.test('in the commands', async (t) => {
    t.match((await casefile('new', '--help')).stdout, /--severity <level> +How bad it is/)
    const { stdout } = await casefile('new', 'By command', '--severity', 'S3', '--json')
    const third = JSON.parse(stdout)
    t.equal(third.severity, 'S3')
    t.match((await casefile('show', third.id)).stdout, /^severity +S3$/m)
    await t.rejects(casefile('new', 'By command', '--severity', 'high'), /severity: expected S1/)
  })

  await t.test('on the pages', async (t) => {
    const page = async (path: string) => (await fetch(service.url + path)).text()
    const input = /<input[^>]* name="severity"[^>]*>/
    const form = await page('/new')
    t.match(form, /<label for="new-severity">Severity<\/label>/)
    t.match(input.exec(form)?.[0], /pattern="S\[1-4\]"/)
    const shown = await page(`/case/${id}`)
    t.match(shown, /<label for="edit-severity">Severity<\/label>/)
    t.match(input.exec(shown)?.[0], /value="S1"/)
    t.match(shown, /<dt>Severity<\/dt>\s*<dd[^>]*>S1<\/dd>/)
  })

  await t.test('and that it is there is no change of the cases that there were', async (t) => {
    const stream = await connect(`${service.url}/events?after=0`)
    const last = (await service.request('POST', '/cases', { title: 'The last' })).json
    await stream.next(({ data }) => data.includes(last.id))
    stream.close()
    t.strictSame(
      stream.received.filter(({ data }) => data.includes(old.id)).map(({ event }) => event),
      ['case_created', 'problem_found', 'problem_cleared'],
    )
  })
})
