import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, open, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { stolenTime } from '../fixtures/cpu-time.ts'
import {
  EDITOR_FILES,
  renameOver,
  SAVE_STYLES,
  type SaveStyle,
  truncateThenWrite,
} from '../fixtures/editors.ts'
import { inLongLane, isFull, isLong } from '../fixtures/full.ts'
import { listen, type PublishedEvents } from '../fixtures/published-events.ts'
import { clientOf, ran, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const REPEATS = isLong ? 20 : 1
// RELIABILITY.md WA-7 in full: 1,000 writes, 400 saves
const TURNS = isFull ? 20 : isLong ? 6 : 2
const WRITTEN = isLong ? 10 : 2
const SAVES = isFull ? 50 : isLong ? 10 : 2

const caseText = (title: string) =>
  `---\nid:\ntitle: ${title}\ncreated_at: 2026-01-01T00:00:00.000Z\nstate: OPEN\ntype: bug\noutcome:\ntags: []\n---\n\nWhat happens.\n\nAnd what should happen.\n`

/** Always of the same length. */
const titleOf = (turn: number) => `A${10 + turn}`

const isThere = (program: string) => {
  try {
    execFileSync('which', [program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The words of what was told of one case, from an index of the history on. */
function toldOf({ history }: PublishedEvents, id: string, from = 0): string[] {
  return history
    .slice(from)
    .filter(({ payload }) => payload.case_id === id)
    .map(({ event_type, payload }) =>
      [event_type, payload.filename, payload.code].filter((word) => word !== undefined).join(' '),
    )
}

/**
 * Resolves when everything that was done to the files before is told: the kernel tells changes in
 * their order, so a later one that is told has them behind it.
 */
async function settled(
  app: TestService,
  published: PublishedEvents,
  marker: string,
): Promise<void> {
  const filename = `m-${randomUUID()}.md`
  await renameOver(app.file(marker, filename), 'x\n')
  await published.next(({ payload }) => payload.filename === filename)
  await app.service.refresher.freshenAll('all')
  await app.service.eventLog.flushed()
}

interface Playing extends SaveStyle {
  id: string
}

t.test('every way to save is one event, and the right state', async (t) => {
  const styles = SAVE_STYLES.map((style) => ({ ...style, id: randomUUID() }))
  const marker = randomUUID()
  const cases = Object.fromEntries(
    [...styles.map(({ id }) => id), marker].map((id) => [id, { 'case.md': caseText(titleOf(0)) }]),
  )
  const app = await openTestService(t, { files: { memory: { cases } } })
  await app.service.watched()
  const published = listen(t, app)
  const stolen = stolenTime(t)
  const played = styles.map(async ({ id, needs, save, edit }: Playing) => {
    if (needs !== undefined && !isThere(needs)) return null
    const path = app.file(id, 'case.md')
    const wrong: string[] = []
    const lateness: number[] = []
    let title = titleOf(0)
    let count = 0
    for (let turn = 1; turn <= REPEATS; turn++) {
      const was = await readFile(path, 'utf8')
      if (!edit) title = titleOf(turn)
      const text = edit?.(was, turn) ?? was.replace(/^title: .*$/m, `title: ${title}`)
      const saved = save(path, text).then(() => ({ end: Date.now(), stolen: stolen() }))
      // what a half-written file says is nobody's news
      while (!(await Promise.race([saved.then(() => true), delay(isLong ? 30 : 90, false)]))) {
        const { problems } = (await app.request('GET', '/health')).json
        const list = (await app.request('GET', '/cases')).json
        const listed = list.find((each: { id: string }) => each.id === id)
        if (!/^A\d\d$/.test(listed?.title) || listed.problems.length || problems.length)
          wrong.push(`turn ${turn}: listed as ${JSON.stringify(listed)}`)
      }
      const { end, stolen: before } = await saved
      await published.next(() => toldOf(published, id).length > count)
      const event = published.history.filter(({ payload }) => payload.case_id === id).at(-1)!
      const late = Date.parse(event.timestamp) - end
      lateness.push(late)
      if (isLong && late > 1000 + stolen() - before)
        wrong.push(`turn ${turn}: told ${late} ms after the save`)
      count = toldOf(published, id).length
      const got = (await app.request('GET', `/cases/${id}`)).json
      if (got.title !== title) wrong.push(`turn ${turn}: ${got.title} in place of ${title}`)
      if (!text.includes(got.description)) wrong.push(`turn ${turn}: ${got.description}`)
    }
    return { wrong, lateness: lateness.sort((a, b) => a - b) }
  })
  const results = await Promise.all(played)
  await settled(app, published, marker)
  for (const [index, { name, needs, id }] of styles.entries()) {
    const result = results[index]
    t.test(name, { skip: !result && `${needs} is not installed` }, async (t) => {
      t.strictSame(result?.wrong, [])
      t.comment(
        `told after ${result?.lateness[REPEATS >> 1]} ms (p50), ${result?.lateness.at(-1)} ms (max)`,
      )
      t.strictSame(toldOf(published, id), Array(REPEATS).fill('case_updated'))
    })
  }
})

t.test('a file that stays half-written is a problem after a second, and told once', async (t) => {
  const [whole, mended, marker] = [randomUUID(), randomUUID(), randomUUID()]
  const cases = Object.fromEntries(
    [whole, mended, marker].map((id) => [id, { 'case.md': caseText('Whole') }]),
  )
  const app = await openTestService(t, { files: { memory: { cases } } })
  await app.service.watched()
  const published = listen(t, app)
  const get = async (id: string) => (await app.request('GET', `/cases/${id}`)).json
  const path = app.file(mended, 'case.md')
  const half = caseText('Mended').slice(0, 40)

  writeFileSync(path, half)
  const [one, other, list] = await Promise.all([
    get(mended),
    get(whole),
    app.request('GET', '/cases').then(({ json }) => json),
  ])
  t.equal(one.title, 'Whole', 'the last good value')
  t.equal(other.title, 'Whole')
  t.strictSame(
    list.map(({ title }: { title: string }) => title),
    ['Whole', 'Whole', 'Whole'],
  )
  const found = await published.next(({ event_type }) => event_type === 'problem_found')
  t.match(found.payload, { case_id: mended, code: 'bad_frontmatter', file: 'case.md' })
  t.equal((await get(mended)).title, 'Whole', 'and later on as well')
  t.equal((await app.request('PUT', `/cases/${mended}`, { title: 'x' })).status, 409)
  t.equal(readFileSync(path, 'utf8'), half, 'what stands there is left alone')

  appendFileSync(path, caseText('Mended').slice(40))
  await published.next(({ event_type }) => event_type === 'problem_cleared')
  await settled(app, published, marker)
  t.equal((await get(mended)).title, 'Mended')
  t.strictSame(toldOf(published, mended), [
    'problem_found bad_frontmatter',
    'case_updated',
    'problem_cleared bad_frontmatter',
  ])
  t.strictSame(toldOf(published, whole), [])
})

t.test('a file that is written to all the time is told, and holds no list up', async (t) => {
  const [id, marker] = [randomUUID(), randomUUID()]
  const cases = Object.fromEntries([id, marker].map((id) => [id, { 'case.md': caseText('A') }]))
  const app = await openTestService(t, { files: { memory: { cases } } })
  await app.service.watched()
  const published = listen(t, app)
  let isTold = false
  const first = published
    .next(({ payload }) => payload.filename === 'notes.md')
    .then(() => {
      isTold = true
    })
  const stolen = stolenTime(t)
  let longest = 0
  let lines = 0
  while (!isTold) {
    appendFileSync(app.file(id, 'notes.md'), `line ${lines++}\n`)
    const [began, before] = [performance.now(), stolen()]
    const isWhole = lines % 10 === 0
    if (isWhole) t.equal((await app.request('GET', '/cases')).json.length, 2)
    longest = Math.max(longest, performance.now() - began - (stolen() - before))
    await delay(40)
  }
  await first
  if (isLong) t.ok(longest < 1000, `a list took ${longest.toFixed()} ms at most`)
  await settled(app, published, marker)
  t.match(toldOf(published, id), ['memory_updated notes.md'])
})

t.test('the files that editors leave are no memory files, no problems and no events', async (t) => {
  const [id, marker] = [randomUUID(), randomUUID()]
  const cases = Object.fromEntries([id, marker].map((id) => [id, { 'case.md': caseText('A') }]))
  const app = await openTestService(t, { files: { memory: { cases } } })
  await app.service.watched()
  const published = listen(t, app)
  await mkdir(app.file(id, 'sessions'))
  await mkdir(app.file(id, 'proof'))
  for (const folder of ['', 'sessions', 'proof']) {
    for (const name of EDITOR_FILES) writeFileSync(app.file(id, folder, name), 'half a line')
    await symlink('me@here.1234:1700000000', app.file(id, folder, '.#case.md'))
  }
  for (const name of EDITOR_FILES) writeFileSync(app.file(name), 'at the top of all cases')
  await settled(app, published, marker)
  t.strictSame(toldOf(published, id), [])
  const list = (await app.request('GET', `/cases/${id}/memory`)).json
  t.strictSame(
    list.map(({ filename }: { filename: string }) => filename),
    ['case.md'],
  )
  t.strictSame((await app.request('GET', `/cases/${id}`)).json.problems, [])
  t.strictSame((await app.request('GET', '/health')).json.problems, [])
})

t.test('what the service writes itself is told by the request alone', async (t) => {
  const app = await openTestService(t)
  const { id: marker } = await app.newCase()
  await app.service.watched()
  const published = listen(t, app)
  const wanted: Record<string, string[]> = {}
  await Promise.all(
    Array.from({ length: WRITTEN }, async () => {
      const { id } = await app.newCase()
      wanted[id] = ['case_created']
      const ask = async (method: string, path: string, body: object | string, says: string[]) => {
        const { status, text } = await app.request(method, `/cases/${id}${path}`, body)
        if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
        wanted[id]!.push(...says)
      }
      for (let turn = 0; turn < TURNS; turn++) {
        const state = turn % 2 ? 'OPEN' : 'BLOCKED'
        await ask('PUT', '', { title: `Title ${turn}` }, ['case_updated'])
        await ask('PUT', '/state', { state }, ['case_state_changed'])
        await ask('PUT', '/memory/notes.md', `line ${turn}`, ['memory_updated notes.md'])
        await ask('POST', '/proof', { type: 'log', content: `${turn}` }, ['proof_created'])
        await ask('PUT', '', { description: `What happens.\n\n${turn}` }, ['case_updated'])
      }
    }),
  )
  await settled(app, published, marker)
  for (const [id, says] of Object.entries(wanted)) t.strictSame(toldOf(published, id), says)
  t.equal(published.history.length, WRITTEN * (1 + TURNS * 5) + 1, 'the marker is the only other')
})

t.test('a session with all its writes makes no event but its own', inLongLane, async (t) => {
  const app = await openTestService(t)
  const { id: marker } = await app.newCase()
  await app.service.watched()
  const published = listen(t, app)
  const client = clientOf(() => app.url)
  const { ref, events } = await ran(client, step('echo fine'))
  await settled(app, published, marker)
  const trail = published.history.filter(({ payload }) => payload.session_id === ref.id)
  t.strictSame(
    trail.map(({ event_type }) => event_type).filter((type) => type !== 'attention_needed'),
    events
      .map(({ event_type }) => event_type)
      .filter((type) => !/^(session_output|ping)$/.test(type)),
    'the log tells what the stream of the session tells',
  )
  t.strictSame(
    toldOf(published, ref.case_id).filter((word) => /^(case|memory|problem)/.test(word)),
    ['case_created', 'memory_updated runbook.md', ...Array(3).fill('case_state_changed')],
  )
})

t.test('what a person saves right after a write of the service is seen', async (t) => {
  const gaps = isLong ? [0, 5, 20, 50] : [0, 20]
  const saves = [
    { name: 'renamed over', save: renameOver },
    { name: 'in place', save: (...all: [string, string]) => truncateThenWrite(...all) },
  ]
  const tables = gaps.flatMap((ms) => saves.map((save) => ({ ms, ...save, id: randomUUID() })))
  const marker = randomUUID()
  const cases = Object.fromEntries(
    [marker, ...tables.map(({ id }) => id)].map((id) => [id, { 'case.md': caseText('A') }]),
  )
  const app = await openTestService(t, { files: { memory: { cases } } })
  await app.service.watched()
  const published = listen(t, app)
  await Promise.all(
    tables.map(async ({ ms, save, id }) => {
      const path = app.file(id, 'case.md')
      for (let turn = 1; turn <= SAVES; turn++) {
        const put = await app.request('PUT', `/cases/${id}`, { title: `Title ${turn}` })
        if (put.status !== 200) throw new Error(put.text)
        if (ms > 0) await delay(ms)
        await save(path, `${readFileSync(path, 'utf8')}\nLine ${turn}.\n`)
        await published.next(() => toldOf(published, id).length >= 2 * turn)
      }
    }),
  )
  await settled(app, published, marker)
  for (const { ms, name, id } of tables) {
    t.test(`${name} after ${ms} ms`, async (t) => {
      t.strictSame(toldOf(published, id), Array(2 * SAVES).fill('case_updated'))
      const { title, description } = (await app.request('GET', `/cases/${id}`)).json
      t.equal(title, `Title ${SAVES}`)
      t.equal(description.match(/Line \d+\./g)?.length, SAVES)
    })
  }
})

t.test('what is no plain file is told as a problem and holds nothing up', async (t) => {
  const [id, marker] = [randomUUID(), randomUUID()]
  const cases = Object.fromEntries([id, marker].map((id) => [id, { 'case.md': caseText('A') }]))
  const app = await openTestService(t, { files: { memory: { cases } } })
  await app.service.watched()
  const published = listen(t, app)
  const path = (name: string) => app.file(id, name)
  // the address of a socket has at most 107 bytes
  const short = mkdtempSync(join(tmpdir(), 'casefile-'))
  t.teardown(() => rmSync(short, { recursive: true }))
  await symlink(app.file(id), join(short, 'case'))
  const socket = createServer().listen(join(short, 'case', 'socket.md'))
  t.teardown(() => socket.close())
  await once(socket, 'listening')
  execFileSync('mkfifo', [path('fifo.md')])
  await mkdir(path('folder.md'))
  await symlink('/nowhere', path('dangling.md'))
  await symlink('/etc/hostname', path('outside.md'))
  const sparse = await open(path('sparse.md'), 'w')
  await sparse.truncate(2 ** 31)
  await sparse.close()
  await writeFile(path('closed.md'), 'secret\n', { mode: 0 })
  const hasDevice = spawnSync('mknod', [path('device.md'), 'c', '1', '5']).status === 0
  const stolen = stolenTime(t)
  const isHidden = process.getuid?.() !== 0 // from root no mode hides anything
  const wrong: Record<string, string> = {
    'fifo.md': 'unreadable',
    'socket.md': 'unreadable',
    'folder.md': 'unreadable',

    'dangling.md': 'symbolic_link',
    'outside.md': 'symbolic_link',
    ...(hasDevice ? { 'device.md': 'unreadable' } : {}),

    'sparse.md': 'too_large',
    ...(isHidden ? { 'closed.md': 'unreadable' } : {}),
  }
  const began = performance.now()
  const paths = [`/cases/${id}`, '/cases', `/cases/${id}/memory`, `/cases/${marker}`]
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => app.request('GET', paths[n % 4]!)),
  )
  const ms = performance.now() - began
  if (isLong) t.ok(ms < 500 + stolen(), `requests are not held up: ${ms.toFixed()} ms`)
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200])
  await settled(app, published, marker)
  const { problems } = (await app.request('GET', `/cases/${id}`)).json
  t.strictSame(
    Object.fromEntries(problems.map(({ file, code }: Record<string, string>) => [file, code])),
    wrong,
  )
  t.strictSame(
    toldOf(published, id).sort(),
    [...Object.values(wrong).map((code) => `problem_found ${code}`)]
      .concat(isHidden ? [] : ['memory_updated closed.md'])
      .sort(),
  )
  for (const name of Object.keys(wrong)) {
    const { status } = await app.request('GET', `/cases/${id}/memory/${name}`)
    t.equal(status, 409, `GET ${name}`)
  }
  for (const name of Object.keys(wrong)) await rm(path(name), { recursive: true })
  const count = published.history.length
  await settled(app, published, marker)
  t.strictSame(
    toldOf(published, id, count).sort(),
    Object.values(wrong)
      .map((code) => `problem_cleared ${code}`)
      .sort(),
  )
  t.strictSame((await app.request('GET', `/cases/${id}`)).json.problems, [])
})
