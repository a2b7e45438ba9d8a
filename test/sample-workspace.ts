import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { copySample } from '../src/demo/sample-copy.ts'
import { editedCase, readCase } from '../src/markdown/case-file.ts'
import { readHistory } from '../src/markdown/history-file.ts'
import { countedProof, readProof } from '../src/markdown/proof-file.ts'
import { readSession } from '../src/markdown/session-file.ts'
import { editedSession, readSessionTexts } from '../src/markdown/session-texts.ts'
import { CASE_STATES } from '../src/model/case-state.ts'
import { readTap } from '../src/runners/reports/tap.ts'
import { openServer } from '../src/serve.ts'
import { MEMORY_ROOT_FILES } from '../src/workspace/layout.ts'
import { inLongLane } from './fixtures/full.ts'

const sample = fileURLToPath(new URL('../sample-workspace', import.meta.url))
const memory = join(sample, 'memory')
const text = (path: string) => readFileSync(path, 'utf8')
const files = readdirSync(memory, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(memory, join(entry.parentPath, entry.name)))
  .sort()
const caseIds = readdirSync(join(memory, 'cases'))
const created_at = '2026-11-20T09:54:00.000Z'

/** A fresh copy of the sample, served; `get` asks it. */
async function servedCopy(t: Test) {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const folder = t.testdir()
  const root = join(folder, 'workspace')
  await copySample(sample, root)
  const served = await openServer({ root, port: 0, stateDir: join(folder, 'state') })
  t.teardown(() => served.close())
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what is tested
  const ask = async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(served.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.json()
  }
  const stream = async (path: string) => (await fetch(`${served.url}${path}/stream`)).text()
  return { root, ask, stream }
}

t.test('an edit that changes nothing gives every file back byte for byte', async (t) => {
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    t.test(file, async (t) => {
      const bytes = text(join(memory, file))
      const [, case_id = '', folder = '', name = ''] =
        /^cases\/([^/]+)\/(?:([^/]+)\/)?([^/]+)\.md$/.exec(file) ?? []
      if (folder === 'sessions') {
        const number = Number(name)
        const { value, problems } = readSession(bytes, {
          case_id,
          number,
          case_title: '',
          created_at,
        })
        t.strictSame(problems, [])
        const texts = await readSessionTexts(bytes, value!)
        t.strictSame(texts.problems, [])
        if (!bytes.startsWith('---')) {
          t.match(value, { state: 'complete', trail: [] }, 'the plain layout, as it was written')
          return
        }
        let start = 0
        for (const { event, time, fields } of value!.trail) {
          if (event === 'step_started') start = Date.parse(time)
          if (event !== 'step_finished') continue
          const ms = Date.parse(time) - start
          t.ok(Number(fields.duration_ms) <= ms, 'a step took no longer than its times say')
        }
        const { state } = value!
        const edit = { fields: { state }, texts: texts.value! }
        t.equal(await editedSession(bytes, value!, edit), bytes)
      } else if (folder === 'proof') {
        const { value, problems } = readProof(bytes, { id: name, case_id, created_at })
        t.strictSame(problems, [])
        t.equal(value!.intact, true)
        if (value!.verified) {
          const { verified_at, verified_by, meets, accepted } = value!
          const verification = {
            verified_at: verified_at!,
            verified_by: verified_by!,
            meets,
            accepted,
          }
          t.equal(countedProof(bytes, value!, verification), bytes)
        }
      } else if (name === 'case') {
        const { value, problems } = await readCase(bytes, { id: case_id, created_at })
        t.strictSame(problems, [])
        const { checklist: _, ...fields } = value!
        if (bytes.startsWith('---')) t.equal(await editedCase(bytes, value!, { fields }), bytes)
        else t.equal(value!.title, 'Say in the answer how long a sign-in still lasts')
      } else if (name === 'history') {
        t.ok(readHistory(bytes).every(({ kind }) => kind !== 'note'))
      } else t.match(name, /^(?:runbook|notes|review)$/)
    })
  }
})

t.test('the record is one that the service has written and reads without a problem', async (t) => {
  const { ask } = await servedCopy(t)
  const cases = await ask('GET', '/cases')
  t.equal(cases.length, caseIds.length)
  for (const each of cases) {
    const sessions = await ask('GET', `/cases/${each.id}/sessions`)
    t.strictSame([each.problems, sessions.map((one: typeof each) => one.problems)].flat(2), [])
  }
  t.strictSame((await ask('GET', '/health')).problems, [])
  t.strictSame(
    [...new Set(cases.map((each: { state: string }) => each.state))].sort(),
    [...CASE_STATES].sort(),
    'each state is there',
  )
  for (const [name, content] of Object.entries(MEMORY_ROOT_FILES)) {
    t.equal(text(join(memory, name)), content, name)
  }
  const [verifying] = await ask('GET', '/cases?state=VERIFYING')
  const proof = { type: 'test-log', artifact: '1-npm-test.tap' }
  t.match(
    await ask('POST', `/cases/${verifying.id}/proof`, proof),
    {
      status: 400,
      detail: /lists 1-npm-test\.tap, but the file is not here.* Send the text as content\.$/,
    },
    'an artifact that stayed on another machine',
  )
})

t.test("the README's table says what is there", async (t) => {
  const rows = [
    ...text(join(sample, 'README.md')).matchAll(/^\| `([0-9a-f]{8})` \| (\w+) \| (.*) \|$/gm),
  ]
  t.strictSame(rows.map(([, id]) => id).sort(), caseIds.map((id) => id.slice(0, 8)).sort())
  for (const [, start = '', state, says = ''] of rows) {
    const folder = join(memory, 'cases', caseIds.find((id) => id.startsWith(start))!)
    const file = text(join(folder, 'case.md'))
    t.equal(/^state: (\w+)$/m.exec(file)?.[1] ?? 'OPEN', state, start)
    for (const [, name = ''] of says.matchAll(/`([a-z/0-9]+\.md)`/g)) {
      t.ok(text(join(folder, name)), name)
    }
    const sessionStates = [...says.matchAll(/`(plan_ready|complete|abandoned|failed)`/g)]
    for (const [, stated] of sessionStates) {
      t.match(text(join(folder, 'sessions/1.md')), new RegExp(`^state: ${stated}$`, 'm'))
    }
  }
})

t.test('no file names a place on the machine that made it', async (t) => {
  for (const file of files) {
    const places = /(?:\/tmp\/|\/home\/|\/root\b|\/Users\/|\/work\/|file:\/\/)/.exec(
      text(join(memory, file)),
    )
    t.equal(places, null, file)
  }
})

t.test('whoever approves the plan that waits gets the bug mended', inLongLane, async (t) => {
  const { root, ask, stream } = await servedCopy(t)
  const counts = () => {
    const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
    const { stdout } = spawnSync('npm', ['test', '--silent'], { cwd: root, env, encoding: 'utf8' })
    const { run, passed, failed } = readTap(stdout)!
    return { run, passed, failed }
  }
  t.strictSame(counts(), { run: 23, passed: 18, failed: 5 })

  const [waiting] = await ask('GET', '/cases?state=PLANNING')
  const [session] = await ask('GET', `/cases/${waiting.id}/sessions`)
  const plan = text(fileURLToPath(new URL('fixtures/demo-plan.md', import.meta.url)))
  t.equal(`${session.plan}\n`, plan, 'the plan of the tests is the plan of the sample')

  const path = `/cases/${waiting.id}/sessions/${session.id}`
  await ask('POST', `${path}/approve`, { plan_sha256: session.plan_sha256 })
  await stream(path)
  t.match(await ask('GET', path), {
    state: 'complete',
    diff: { file: 'src/token.js', additions: 1, deletions: 1 },
    tests: { run: 23, passed: 23, failed: 0 },
    problems: [],
  })
  t.strictSame(counts(), { run: 23, passed: 23, failed: 0 })
  t.equal(basename(root), 'workspace')
})
