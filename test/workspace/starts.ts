// What a start finds: it answers as the one before, tells once what changed meanwhile, and loses nothing by a kill.
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { openServer, type Served } from '../../src/serve.ts'
import { before } from '../fixtures/disk-calls.ts'
import { inLongLane } from '../fixtures/full.ts'
import { filesBelow } from '../fixtures/paths-below.ts'
import {
  type Client,
  clientOf,
  type Envelope,
  envelope,
  must,
  planned,
  step,
} from '../fixtures/session-client.ts'
import { rowsOnDisk } from '../fixtures/state-rows.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const SAMPLE = fileURLToPath(new URL('../../sample-workspace/memory', import.meta.url))
const WHOLE = '6802b34d-37d5-420a-afaa-e69e7f45a6ed'
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const caseMd = (title: string, more = '') => `---\ntitle: ${title}\n---\n${more}`

function save(path: string, text: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** The sample, and cases with problems of all kinds. */
function fill(memory: string): void {
  cpSync(join(SAMPLE, 'cases', WHOLE), join(memory, 'cases', WHOLE), { recursive: true })
  const cases = join(memory, 'cases')
  const put = (n: number, files: Record<string, string | Buffer>) => {
    for (const [name, text] of Object.entries(files)) save(join(cases, idOf(n), name), text)
  }
  const session = readFileSync(join(cases, WHOLE, 'sessions/1.md'), 'utf8')
  put(1, { 'case.md': caseMd('Hand-made', 'No times.\n'), 'a note.md': 'x', 'notes.md': 'y' })
  put(2, { 'case.md': '---\ntitle: [broken\n---\n' })
  put(3, { 'case.md': '' })
  put(4, { 'case.md': caseMd('A copy').replace('title', `id: ${idOf(1)}\ntitle`) })
  put(5, { 'case.md': caseMd('Of nobody').replace('title', `id: ${idOf(77)}\ntitle`) })
  put(6, { 'sessions/1.md': session })
  put(7, {
    'case.md': caseMd('Runs elsewhere'),
    'sessions/1.md': session.replace(/^state: .*$/m, 'state: executing'),
  })
  put(8, { 'case.md': caseMd('Broken session'), 'sessions/1.md': 'nothing' })
  put(9, { 'case.md': caseMd('Resolved?').replace('title', 'state: RESOLVED\ntitle') })
  put(10, { 'case.md': caseMd('Twins'), 'sessions/1.md': session, 'sessions/2.md': session })
  put(11, { 'case.md': caseMd('Parent').replace('title', `parent: ${idOf(1)}\ntitle`) })
  put(12, { 'case.md': caseMd('Proof'), [`proof/${idOf(500)}.md`]: 'what is this' })
  put(13, { 'case.md': caseMd('Deep'), 'more/deep/note.md': 'x', 'Case.md': 'x' })
  mkdirSync(join(cases, 'no-uuid'), { recursive: true })
  writeFileSync(join(cases, idOf(1), 'bytes.md'), Buffer.from([0xff, 0xfe, 0x80]))
}

const SUB = ['', ...['proof', 'memory', 'history', 'gate'].map((s) => `/${s}`)]
/** Which lines of history.md this machine wrote is in no file. */
const RECORDED = /"recorded":true,"source":"service"/g
const UNKNOWN = '"recorded":false,"source":"unknown"'

async function answers(app: TestService): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  const get = async (path: string) => {
    const { status, text, json } = await app.request('GET', path)
    const said = path.endsWith('/history') ? text.replace(RECORDED, UNKNOWN) : text
    all[path] = `${status} ${said.replaceAll(app.url, '')}`
    return json
  }
  for (const { id } of await get('/cases')) {
    for (const each of SUB) await get(`/cases/${id}${each}`)
    for (const { filename } of await get(`/cases/${id}/memory`))
      await get(`/cases/${id}/memory/${encodeURIComponent(filename)}`)
    for (const proof of await get(`/cases/${id}/proof`))
      for (const part of ['', '/content']) await get(`/cases/${id}/proof/${proof.id}${part}`)
    for (const session of await get(`/cases/${id}/sessions`))
      await get(`/cases/${id}/sessions/${session.id}`)
  }
  for (const path of ['/triage', '/cases?state=OPEN', '/cases?limit=3']) await get(path)
  for (const query of ['connection pool', 'quince', 'session&limit=3', 'state:OPEN', 'tag:kept'])
    await get(`/search?q=${query.replaceAll(' ', '+')}`)
  all.health = (await app.request('GET', '/health')).json.problems
  return all
}

/** What is other in the second. */
function changed(before: Record<string, unknown>, after: Record<string, unknown>) {
  const paths = Object.keys({ ...before, ...after })
  const isOther = (path: string) => JSON.stringify(before[path]) !== JSON.stringify(after[path])
  return Object.fromEntries(
    paths.filter(isOther).map((path) => [path, [before[path], after[path]]]),
  )
}

/** The events since this one. */
async function eventsAfter(app: Pick<TestService, 'service'>, last: number): Promise<Envelope[]> {
  await app.service.start.begun
  await app.service.eventLog.flushed()
  const events: Envelope[] = []
  for await (const each of app.service.eventLog.read(last))
    events.push(envelope({ data: each.envelope }))
  return events
}

/** What was changed a moment ago tells nothing by its stamps. */
async function rest(app: TestService): Promise<void> {
  await app.close()
  await delay(60)
  await app.restart()
  await app.service.start.begun
}

t.test(
  'a first start tells nothing, and every later one answers as it did',
  inLongLane,
  async (t) => {
    const app = await openTestService(t)
    await app.close()
    fill(app.memory)
    rmSync(app.stateDir, { recursive: true })
    await app.restart()
    await app.service.start.begun
    t.equal(app.service.eventLog.last, 0, 'nothing is told')
    // in another order than a start reads them
    const others = await Promise.all(
      Array.from({ length: 4 }, () => app.newCase({ title: 'Alike', description: 'A quince.' })),
    )
    const [one, two, three] = others
      .map(({ id }) => id)
      .sort()
      .reverse() as [string, string, string]
    for (const name of ['z.md', 'b.md', 'm.md', 'a.md'])
      await app.request('PUT', `/cases/${one}/memory/${name}`, 'quince\n')
    for (const description of ['Other.', 'A quince.'])
      await app.request('PUT', `/cases/${two}`, { description })
    await must(app, 'POST', `/cases/${two}/proof`, { type: 'log', content: 'a quince' })
    await app.request('PUT', `/cases/${three}`, { tags: ['kept'] })
    const broken = readFileSync(app.file(three, 'case.md'), 'utf8').replace('OPEN', 'NONSENSE')
    save(app.file(three, 'case.md'), broken)
    await rest(app)
    const last = await answers(app)
    t.match(last[`/cases/${three}`], /"tags":\["kept"\].*unknown_state/)
    await rest(app)
    t.strictSame(changed(last, await answers(app)), {}, 'what is not read again')
    await app.close()
    rmSync(app.stateDir, { recursive: true })
    await app.restart()
    t.strictSame(changed(last, await answers(app)), {}, 'what is read without any memory')
    t.equal(app.service.eventLog.last, 0, 'nothing is told')
    const index = readFileSync(join(app.memory, 'index.md'), 'utf8')
    await app.close()
    t.equal(readFileSync(join(app.memory, 'index.md'), 'utf8'), index)
  },
)

const PROOF = '11111111-1111-4111-8111-111111111111'
const proof = '---\ntype: log\n---\n\n```text\nx\n```\n'
const HOUR_S = 3600

/** What happens to a case while no service runs, what of it is told then, and of which file it has the time. */
type Away = [
  name: string,
  change: (file: (...names: string[]) => string) => unknown,
  told: string[],
  timeOf: string | null,
]
const away: Away[] = [
  [
    'an edit of the same size with the old time',
    (file) => {
      const { atime, mtime } = statSync(file('case.md'))
      writeFileSync(file('case.md'), caseMd('Title b', 'Text.\n'))
      utimesSync(file('case.md'), atime, mtime)
    },
    ['case_updated'],
    'case.md',
  ],
  [
    'an edit by a rename',
    (file) => {
      writeFileSync(file('x'), caseMd('Renamed'))
      renameSync(file('x'), file('case.md'))
    },
    ['case_updated'],
    'case.md',
  ],
  [
    'another state',
    (file) => writeFileSync(file('case.md'), caseMd('Title a\nstate: WATCHLIST', 'Text.\n')),
    ['case_state_changed'],
    'case.md',
  ],
  ['a new note', (file) => save(file('new.md'), 'a note'), ['memory_updated new.md'], 'new.md'],
  [
    'a note of the same size with the old time',
    (file) => {
      const { atime, mtime } = statSync(file('notes.md'))
      writeFileSync(file('notes.md'), 'A NOTE')
      utimesSync(file('notes.md'), atime, mtime)
    },
    ['memory_updated notes.md'],
    'notes.md',
  ],
  [
    'a note that grew',
    (file) => appendFileSync(file('notes.md'), 'more'),
    ['memory_updated notes.md'],
    'notes.md',
  ],
  ['a note that is gone', (file) => rmSync(file('notes.md')), ['memory_updated notes.md'], '.'],
  [
    'a proof that changed',
    (file) => save(file('proof', `${PROOF}.md`), proof.replace('x', 'y')),
    [`proof_updated ${PROOF}`],
    `proof/${PROOF}.md`,
  ],
  [
    'a new proof',
    (file) => save(file('proof', `${idOf(9)}.md`), proof),
    [`proof_created ${idOf(9)}`],
    `proof/${idOf(9)}.md`,
  ],
  [
    'a proof that is gone',
    (file) => rmSync(file('proof', `${PROOF}.md`)),
    [`proof_updated ${PROOF}`],
    null,
  ],
  [
    'a session',
    (file) =>
      cpSync(join(SAMPLE, 'cases', WHOLE, 'sessions'), file('sessions'), { recursive: true }),
    ['problem_found'],
    null,
  ],
  ['a case that is gone', (file) => rmSync(file(), { recursive: true }), ['case_deleted'], null],
  ['a case that came', (file) => save(file('case.md'), caseMd('New')), ['case_created'], 'case.md'],
  ['a mode', (file) => chmodSync(file('case.md'), 0o640), [], null],
  [
    'all of it made again',
    (file) => {
      cpSync(file(), `${file()}-copy`, { recursive: true, preserveTimestamps: true })
      rmSync(file(), { recursive: true })
      renameSync(`${file()}-copy`, file())
    },
    [],
    null,
  ],
]

t.test(
  'each change while no service ran is told once, with the time of its own file',
  async (t) => {
    const dated = (title: string) =>
      `---\ncreated_at: 2026-01-01T00:00:00.000Z\ntitle: ${title}\n---\nText.\n`
    const files = { 'case.md': dated('Title a'), 'notes.md': 'a note' }
    const there = away.filter(([name]) => name !== 'a case that came')
    const cases = Object.fromEntries(
      away
        .map((each, n) => [idOf(n), each])
        .filter(([, each]) => there.includes(each as Away))
        .map(([id]) => [id, { ...files, proof: { [`${PROOF}.md`]: proof } }]),
    )
    const app = await openTestService(t, { files: { memory: { cases } } })
    await rest(app)
    await rest(app)
    const { last } = app.service.eventLog
    await app.close()
    // no two files have the same time
    let time = Math.floor(Date.now() / 1000) - HOUR_S
    const dateFile = (path: string) => {
      time += 10
      utimesSync(path, time, time)
    }
    for (const [n, [name, change, , timeOf]] of away.entries()) {
      for (const { path } of filesBelow(app.file(idOf(n)))) dateFile(path)
      change((...names) => app.file(idOf(n), ...names))
      const isDated = timeOf !== null && !name.endsWith('old time')
      if (isDated) dateFile(app.file(idOf(n), timeOf))
    }
    await delay(150) // for so long a name that is free may be taken again by a save: it would be told as a change of now
    const times = away.map(([, , , timeOf], n) =>
      timeOf === null ? null : new Date(statSync(app.file(idOf(n), timeOf)).mtimeMs).toISOString(),
    )
    await app.restart()
    const events = await eventsAfter(app, last)
    const wordsOf = ({ event_type, payload }: Envelope) =>
      [event_type, payload.filename ?? payload.proof_id].filter((word) => word).join(' ')
    for (const [n, [name, , told]] of away.entries()) {
      const own = events.filter(({ payload }) => payload.case_id === idOf(n))
      const known = own.filter(({ event_type }) => event_type !== 'attention_needed')
      t.strictSame(known.map(wordsOf), told, name)
      if (times[n] !== null) t.equal(known[0]?.timestamp, times[n], `${name}: its time`)
    }
    const after = await answers(app)
    const end = app.service.eventLog.last
    await app.restart()
    t.strictSame(changed(after, await answers(app)), {})
    t.strictSame(await eventsAfter(app, end), [], 'once')
  },
)

t.test('last good values of broken files survive starts', inLongLane, async (t) => {
  const app = await openTestService(t)
  cpSync(join(SAMPLE, 'cases', WHOLE), app.file(WHOLE), { recursive: true })
  await rest(app)
  const path = `/cases/${WHOLE}`
  const { title } = await must(app, 'GET', path)
  const [session] = await must(app, 'GET', `${path}/sessions`)
  const { plan } = await must(app, 'GET', `${path}/sessions/${session.id}`)
  writeFileSync(app.file(WHOLE, 'case.md'), '---\ntitle: [\n---\n')
  writeFileSync(app.file(WHOLE, 'sessions', '1.md'), '---\nid: [\n---\n')
  for (const when of ['the next start', 'another']) {
    await app.restart()
    t.equal((await must(app, 'GET', path)).title, title, when)
    t.match(
      await must(app, 'GET', `${path}/sessions/${session.id}`),
      { state: session.state, plan },
      when,
    )
  }
})

/** What a kill of this service now would leave. */
function copyOf(app: TestService, to: string): string {
  for (const [from, name] of [
    [app.root, 'root'],
    [app.stateDir, 'state'],
  ] as const)
    cpSync(from, join(to, name), KEEPING)
  // as of another day: their process still runs
  for (const name of ['owner.lock', 'owner.json'])
    rmSync(join(to, 'state', name), { recursive: true, force: true })
  return to
}

const KEEPING = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true }

/** A service on what a kill left. */
async function startOn(t: Test, left: string) {
  const [root, stateDir] = [join(left, 'root'), join(left, 'state')]
  const log = () => {}
  const open = async () => {
    const served = await openServer({ root, stateDir, port: 0, leftProcesses: () => [], log })
    await served.service.start.begun
    return served
  }
  let served: Served | null = await open()
  const close = async () => {
    await served?.close()
    served = null
  }
  t.teardown(close)
  const memory = join(root, 'memory')
  return {
    ...clientOf(() => served!.url),
    get service() {
      return served!.service
    },
    root,
    stateDir,
    memory,
    file: (caseId: string, ...names: string[]) => join(memory, 'cases', caseId, ...names),
    close,
    async restart() {
      await close()
      served = await open()
    },
  }
}

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'casefile-killed-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

const killed = (t: Test, app: TestService) => startOn(t, copyOf(app, newFolder(t)))

t.test('a kill between a change and its line in the history loses neither', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Old' })
  const left = newFolder(t)
  const { last } = app.service.eventLog
  before(t, 'writeSync', (_, text) => {
    if (text.includes('edited title')) copyOf(app, join(left, 'history'))
  })
  before(t, 'openSync', (path) => {
    if (path.includes('case.md') && readdirSync(left).length === 0) copyOf(app, join(left, 'case'))
  })
  await must(app, 'PUT', `/cases/${id}`, { title: 'New' })
  t.strictSame(readdirSync(left).sort(), ['case', 'history'])
  for (const [name, title, told] of [
    ['case', 'Old', []],
    ['history', 'New', ['case_updated']],
  ] as const) {
    await t.test(`before the ${name} is written`, async (t) => {
      if (name === 'history') {
        // as a power cut leaves what was appended and not synced
        const state = join(left, name, 'state')
        const [row] = rowsOnDisk<{ text: string }>(state, 'SELECT text FROM history_pending')
        const file = join(left, name, 'root/memory/cases', id, 'history.md')
        appendFileSync(file, `${row!.text.slice(0, 40)}${'\0'.repeat(60)}`)
      }
      const next = await startOn(t, join(left, name))
      const lines = () => readFileSync(next.file(id, 'history.md'), 'utf8').match(/^- .*/gm) ?? []
      const events = async () => (await eventsAfter(next, last)).map(({ event_type }) => event_type)
      t.equal((await must(next, 'GET', `/cases/${id}`)).title, title)
      t.strictSame(await events(), told)
      await next.restart()
      await must(next, 'PUT', `/cases/${id}`, { tags: ['next'] })
      t.equal(lines().length, 2 + told.length, lines().join())
      t.equal(lines().filter((line) => line.includes('title: New')).length, told.length)
      t.notMatch(readFileSync(next.file(id, 'history.md'), 'utf8'), '\0')
      t.strictSame(await events(), [...told, 'case_updated'])
    })
  }
})

t.test('equal edits by hand before and after a kill are two lines', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Title 0' })
  const { id: other } = await app.newCase({ title: 'Other' })
  const edit = (path: string, count: number) =>
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^title: .*$/m, `title: Title ${count}`))
  const seen = async (service: Client & Pick<TestService, 'file'>, count: number) => {
    const history = service.file(id, 'history.md')
    const lines = () => readFileSync(history, 'utf8').split('edited title by hand').length - 1
    while (lines() < count) await delay(5)
    await must(service, 'PUT', `/cases/${other}`, { title: `Later ${count}` })
    t.equal(lines(), count)
  }
  edit(app.file(id, 'case.md'), 1)
  await seen(app, 1)
  const left = copyOf(app, newFolder(t))
  edit(join(left, 'root/memory/cases', id, 'case.md'), 2)
  await seen(await startOn(t, left), 2)
})

t.test(
  'a killed service has stored and told whatever it answered, and nothing twice',
  async (t) => {
    const app = await openTestService(t)
    const { id } = await app.newCase({ title: 'Before' })
    const { id: gone } = await app.newCase({ title: 'Gone' })
    const plan = await planned(app, { runbook: step('true') })
    await must(app, 'PUT', `/cases/${id}`, { title: 'Good' })
    await must(app, 'PUT', `/cases/${id}/memory/notes.md`, 'kept\n')
    await must(app, 'DELETE', `/cases/${gone}`)
    const hook = await must(app, 'POST', '/webhooks', { url: 'http://127.0.0.1:1024/' })
    const { last } = app.service.eventLog
    const name = app.service.eventLog.nameOf(last)
    await t.test('the next start', async (t) => {
      const next = await killed(t, app)
      t.match(await must(next, 'GET', `/cases/${id}`), { title: 'Good', problems: { length: 0 } })
      t.equal((await next.request('GET', `/cases/${gone}`)).status, 404)
      t.match(await must(next, 'GET', plan.path), { state: 'plan_ready' })
      t.match(await must(next, 'GET', '/webhooks'), [{ id: hook.id }])
      t.strictSame(await eventsAfter(next, last), [])
      t.equal(next.service.eventLog.find(name), last, 'and an event keeps its name')
      const history = readFileSync(next.file(id, 'history.md'), 'utf8')
      t.equal(history.match(/^- /gm)?.length, 2, history)
    })
    await t.test('one that finds what was saved since, and what was cut short', async (t) => {
      const next = await killed(t, app)
      await next.close()
      const history = next.file(id, 'history.md')
      // its last line had not been written, and a file had not its name
      const lines = readFileSync(history, 'utf8').trimEnd().split('\n')
      writeFileSync(history, `${lines.slice(0, -1).join('\n')}\n`)
      for (const folder of ['', 'proof', 'artifacts'])
        save(next.file(id, folder, '.casefile-1-0123456789ab.tmp'), 'half')
      for (const folder of [next.root, join(next.stateDir, 'hooks')])
        save(join(folder, '.casefile-1-0123456789ab.tmp'), 'half')
      mkdirSync(join(next.memory, 'cases', '.casefile-1-0123456789ab.trash', 'deep'), {
        recursive: true,
      })
      writeFileSync(next.file(id, '.casefile-mine.tmp'), 'mine')
      writeFileSync(next.file(id, 'case.md'), '---\ntitle: [\n---\n')
      await next.restart()
      t.match(await must(next, 'GET', `/cases/${id}`), {
        title: 'Good',
        problems: [{ code: 'bad_frontmatter' }],
      })
      const words = (await eventsAfter(next, last)).map(
        ({ event_type, payload }) => `${event_type} ${payload.filename ?? payload.code ?? ''}`,
      )
      t.strictSame(words.filter((word) => !/attention/.test(word)).sort(), [
        'memory_updated history.md',
        'problem_found bad_frontmatter',
      ])
      const hidden = readdirSync(next.memory, { recursive: true, encoding: 'utf8' }).filter(
        // index.md may be written just now
        (each) => /\.(tmp|trash)$/.test(each) && !each.startsWith(`.casefile-${process.pid}-`),
      )
      t.strictSame(hidden, [`cases/${id}/.casefile-mine.tmp`])
      for (const folder of [next.root, join(next.stateDir, 'hooks')])
        t.notOk(readdirSync(folder).includes('.casefile-1-0123456789ab.tmp'), folder)
      await next.restart()
      t.equal((await must(next, 'GET', `/cases/${id}`)).title, 'Good', 'and again')
    })
  },
)

t.test(
  'more cases than stay in memory are read, changed and listed as any other',
  inLongLane,
  async (t) => {
    const count = 310
    const cases = Object.fromEntries(
      Array.from({ length: count }, (_, n) => [idOf(n), { 'case.md': caseMd(`Title ${n}`) }]),
    )
    const app = await openTestService(t, { files: { memory: { cases } } })
    const titles = async () => {
      const { json } = await app.request('GET', '/cases')
      return json.map(({ title }: { title: string }) => title).sort()
    }
    const wanted = Array.from({ length: count }, (_, n) => `Title ${n}`)
    for (let n = 0; n < count; n += 30) {
      const { title } = await must(app, 'GET', `/cases/${idOf(n)}`)
      if (title !== `Title ${n}`) t.fail(`${n}: ${title}`)
    }
    for (const n of [0, 5, count - 1]) {
      wanted[n] = `Changed ${n}`
      await app.request('PUT', `/cases/${idOf(n)}`, { title: wanted[n] })
    }
    writeFileSync(app.file(idOf(7), 'case.md'), caseMd('By hand'))
    wanted[7] = 'By hand'
    await app.request('DELETE', `/cases/${idOf(3)}`)
    wanted.splice(3, 1)
    t.strictSame(await titles(), wanted.toSorted())
  },
)

/** Which of these texts are anywhere in the state folder. */
function inState(app: TestService, texts: string[]): string[] {
  const bytes = [...filesBelow(app.stateDir)].map(({ bytes }) =>
    bytes.toString('latin1').toLowerCase(),
  )
  return texts.filter((text) => bytes.some((each) => each.includes(text)))
}

t.test(
  'a deleted case leaves no text in the state folder, and neither does what is replaced',
  inLongLane,
  async (t) => {
    const app = await openTestService(t)
    for (let n = 0; n < 12; n++)
      await app.newCase({ title: `Kept ${n}`, description: `xylem zither quorum w${n}` })
    const words = ['xylophone', 'zitherist', 'quokkas', 'jabberwock', 'mxyzptlk']
    const parts = [...words, 'lophone', 'herist', 'bberwock', 'xyzptlk'] // the index leaves out what words have in common
    const secret = await app.newCase({
      title: words[0],
      description: words.slice(1, 4).join(' and '),
    })
    await must(app, 'PUT', `/cases/${secret.id}/memory/notes.md`, 'mxyzptlk\n')
    const other = await app.newCase({ title: 'Other', description: 'It says brillig.' })
    const byHand = await app.newCase({ title: 'Bluebeard' })
    const offline = await app.newCase({ title: 'Zanzibar' })
    const titles = async (q: string) =>
      (await must(app, 'GET', `/search?q=${q}`)).map(({ title }: { title: string }) => title)
    t.strictSame(await titles('zitherist+mxyzptlk'), [words[0]])
    await app.restart()
    t.strictSame(await titles('quokkas'), [words[0]])
    await app.close()
    t.strictSame(inState(app, words), words, 'they are there before')

    await app.restart()
    await must(app, 'DELETE', `/cases/${secret.id}`)
    await must(app, 'PUT', `/cases/${other.id}`, { description: 'It says slithy.' })
    // a folder of cases that was never seen whole may be being copied, so that what it lacks is not gone at once
    await app.service.refresher.rescan()
    rmSync(app.file(byHand.id), { recursive: true })
    await app.service.refresher.rescan()
    await must(app, 'GET', '/cases')
    t.strictSame(await titles('zitherist'), [])
    t.strictSame(await titles('slithy'), ['Other'])
    await app.close()
    t.strictSame(inState(app, [...parts, 'brillig', 'bluebeard']), [])
    t.strictSame(inState(app, ['slithy', 'zanzibar']), ['slithy', 'zanzibar'])
    rmSync(app.file(offline.id), { recursive: true })
    await app.restart()
    t.strictSame(await titles('zanzibar'), [])
    await app.close()
    t.strictSame(inState(app, ['zanzibar']), [], 'deleted while no service ran')
  },
)
