// What requests write beside persons and programs that save, and what of a case is left when it is deleted.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { newSessionText } from '../../src/markdown/session-texts.ts'
import { trailLineText } from '../../src/markdown/trail.ts'
import type { TrailLine } from '../../src/model/trail.ts'
import { before, onFolderSync } from '../fixtures/disk-calls.ts'
import { inLongLane } from '../fixtures/full.ts'
import { listen } from '../fixtures/published-events.ts'
import { CASE, NOW, SESSION, TRAIL } from '../fixtures/records.ts'
import { must, planned, reaches, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const caseMd = (title: string) => `---\ntitle: ${title}\n---\n`
const get = async (app: TestService, id: string) => (await app.request('GET', `/cases/${id}`)).json

function saveNow(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}

// Two at once

t.test('a person who saves while a request writes loses nothing', async (t) => {
  const app = await openTestService(t)
  const isCaseFile = (path: string) => basename(path) === 'case.md' // its folder may have another name
  /** Saves when `isNow` is true of a file that is opened, for the first so many times. */
  const saving = (t: Test, id: string, isNow: (opened: string) => boolean, times: number) => {
    const at = app.file(id, 'case.md')
    let saves = 0
    before(t, 'openSync', (opened) => {
      if (saves >= times || !isNow(opened)) return
      saves++
      saveNow(at, (text) => text.replace(/Text|Mine \d+/, `Mine ${saves}`))
    })
    return () => saves
  }

  await t.test('before its file is read again', async (t) => {
    const { id } = await app.newCase({ title: 'Old', description: 'Text', tags: ['a'] })
    const saves = saving(t, id, isCaseFile, 1)
    t.match(await app.request('PUT', `/cases/${id}`, { title: 'New' }), { status: 200 })
    t.equal(saves(), 1)
    t.match(await get(app, id), { title: 'New', description: 'Mine 1', tags: ['a'] })
  })

  await t.test('while the new file is written', async (t) => {
    const { id } = await app.newCase({ title: 'Old', description: 'Text' })
    const temps = () => readdirSync(app.file(id)).filter((name) => name.endsWith('.tmp'))
    const saves = saving(t, id, (opened) => opened.endsWith('.tmp'), 1)
    t.match(await app.request('PUT', `/cases/${id}`, { title: 'New' }), { status: 200 })
    t.equal(saves(), 1)
    t.match(await get(app, id), { title: 'New', description: 'Mine 1' })
    const history = readFileSync(app.file(id, 'history.md'), 'utf8')
    t.equal(history.match(/edited title/g)?.length, 1, 'and it has one line')
    t.strictSame(temps(), [])
  })

  let refused = ''
  await t.test('again and again: who never stops wins', async (t) => {
    const { id } = await app.newCase({ title: 'Old', description: 'Text' })
    refused = id
    saving(t, id, (opened) => opened.endsWith('.tmp'), Number.POSITIVE_INFINITY)
    const reply = await app.request('PUT', `/cases/${id}`, { title: 'New' })
    t.match(reply, { status: 409, json: { code: 'changed_meanwhile' } })
    t.match(await get(app, id), { title: 'Old', description: /^Mine / })
    t.strictSame(readdirSync(app.file(id)).sort(), ['case.md', 'history.md'])
    t.notMatch(readFileSync(app.file(id, 'history.md'), 'utf8'), 'edited title')
  })

  await t.test('and no later line says that it was changed', async (t) => {
    await app.restart()
    await must(app, 'PUT', `/cases/${refused}`, { tags: ['next'] })
    t.notMatch(readFileSync(app.file(refused, 'history.md'), 'utf8'), 'title: New')
  })

  await t.test('a decision is made again on what was saved', async (t) => {
    const { id } = await app.newCase({ title: 'Old' })
    const item = { description: 'It works', type: 'log', required: true }
    const proof = await must(app, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
    await must(app, 'PUT', `/cases/${id}/proof/${proof.id}/verify`)
    let isSaved = false
    before(t, 'openSync', (opened) => {
      if (isSaved || !isCaseFile(opened)) return
      isSaved = true
      saveNow(app.file(id, 'case.md'), (text) => {
        return `${text}\n## Proof checklist\n\n- [ ] ${item.description} (trace, required)\n`
      })
    })
    const reply = await app.request('PUT', `/cases/${id}/state`, { state: 'RESOLVED' })
    t.match(reply, { status: 422 }, 'the gate is shut by the line that came meanwhile')
    t.equal((await get(app, id)).state, 'OPEN')
  })
})

t.test('a line of the trail comes behind those that git brings in the same moment', async (t) => {
  const git = { HEAD: 'ref: refs/heads/main\n', objects: {}, refs: {} }
  const number = SESSION.number
  const sessions = { [`${number}.md`]: await newSessionText(SESSION) }
  const cases = { [CASE.id]: { 'case.md': caseMd('Old'), sessions } }
  const app = await openTestService(t, { files: { '.git': git, memory: { cases } } })
  const lock = join(app.root, '.git', 'index.lock')
  const line = (event: string) =>
    ({ number: TRAIL.length + 1, time: NOW, event, fields: {} }) as TrailLine
  // between the two files: the first one is written, the other waits on the disk
  const stop = app.service.caseChanges.subscribe(() => {
    stop()
    writeFileSync(lock, '')
    saveNow(app.file(CASE.id, 'sessions', `${number}.md`), (text) => {
      return text.replace('\n\n</details>', `\n${trailLineText(line('theirs'))}\n\n</details>`)
    })
    void app.service.git.waitUntilIdle(0).then(() => unlinkSync(lock)) // it sees whose the save is
  })
  const folder = await app.service.store.update(CASE.id, () => [
    { file: 'case', edit: { fields: { title: 'New' } } },
    { file: 'session', number, edit: { lines: [line('ours')] } },
  ])
  t.same(folder.sessions[0]!.trail, [...TRAIL, line('theirs'), { ...line('ours'), number: 4 }])
})

t.test('while lists look at the disk each change is told once, and in its order', async (t) => {
  const app = await openTestService(t)
  const published = listen(t, app)
  let isDone = false
  const lists = (async () => {
    while (!isDone) {
      await app.service.refresher.rescan()
      await app.request('GET', '/cases')
    }
  })()
  const { id } = await app.newCase({ title: 'T0' })
  const made: string[] = []
  for (let n = 1; n <= 6; n++) {
    const state = n % 2 ? 'BLOCKED' : 'WATCHLIST'
    await must(app, 'PUT', `/cases/${id}/state`, { state })
    const other = await app.newCase({ title: `Other ${n}` })
    made.push(other.id)
    t.match(await get(app, other.id), { title: `Other ${n}` })
  }
  isDone = true
  await lists
  const events = await published.newEvents()
  const ofCase = events.filter(({ event_type }) => event_type === 'case_state_changed')
  const states = ['OPEN', ...Array.from({ length: 6 }, (_, n) => (n % 2 ? 'WATCHLIST' : 'BLOCKED'))]
  t.strictSame(
    ofCase.map(({ payload }) => [payload.old_state, payload.new_state]),
    states.slice(1).map((state, n) => [states[n], state]),
  )
  const others = events.filter((event) => !ofCase.includes(event) && event.payload.case_id !== id)
  t.strictSame(
    others
      .filter(({ event_type }) => event_type !== 'attention_needed')
      .map(({ event_type, payload }) => `${event_type} ${payload.case_id}`),
    made.map((id) => `case_created ${id}`),
  )
})

// What is on the disk, and when

t.test('a new case has its name once it is whole', async (t) => {
  const app = await openTestService(t)
  await app.newCase()
  const seen: string[][] = []
  const cases = () => readdirSync(dirname(app.file('x'))).filter((name) => !name.startsWith('.'))
  const [known] = cases()
  onFolderSync(t, (end) => {
    const [name] = cases().filter((each) => each !== known)
    seen.push(name === undefined ? [] : readdirSync(app.file(name)).sort())
    end()
  })
  const { id } = await app.newCase({ title: 'New' })
  t.strictSame(seen[0], [], 'nobody sees it before what is in it is synced')
  t.ok(seen.length > 1)
  t.strictSame(seen.at(-1), ['case.md', 'history.md'])
  t.equal(cases().length, 2)
  t.ok(cases().includes(id))
})

t.test('a change is logged and answered when its folder is synced, with its history', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Old' })
  const logged: string[] = []
  t.teardown(app.service.eventLog.subscribe(({ type }) => void logged.push(type)))
  const held: ((error?: Error) => void)[] = []
  let act = (end: (error?: Error) => void): void => void held.push(end)
  onFolderSync(t, (end) => act(end), app.file(id))
  const until = async (holds: () => boolean) => {
    while (!holds()) await setImmediate()
  }
  let isAnswered = false
  const answer = app.request('PUT', `/cases/${id}`, { title: 'New' }).then((reply) => {
    isAnswered = true
    return reply
  })
  await until(() => held.length > 0)
  t.match(readFileSync(app.file(id, 'case.md'), 'utf8'), 'title: New')
  const history = () => readFileSync(app.file(id, 'history.md'), 'utf8')
  t.notMatch(history(), 'edited title', 'a line follows what it tells')
  t.strictSame([logged, isAnswered], [[], false])
  held[0]!()
  t.match(await answer, { status: 200, json: { title: 'New' } })
  t.strictSame([logged, held.length], [['case_updated'], 1], 'and sent once')
  t.match(history(), 'edited title')

  const unsure = app.request('PUT', `/cases/${id}`, { title: 'Newer' })
  await until(() => held.length > 1)
  const fail = (end: (error?: Error) => void) =>
    end(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))
  act = fail
  fail(held[1]!)
  t.match(await unsure, { json: { title: 'Newer' } }, 'the file has the change, so it is made')
  t.match((await app.request('GET', '/health')).json, {
    status: 'failing',
    problems: [{ code: 'not_writable', file: `memory/cases/${id}`, message: /\(EIO\)/ }],
  })
  act = (end) => end()
  t.match((await app.request('GET', '/health')).json, { status: 'ok', problems: { length: 0 } })
})

// Deleting

t.test('a deleted case leaves nothing behind, and what it linked to stays', async (t) => {
  const app = await openTestService(t, { files: { 'kept.md': 'kept', folder: { 'a.md': '' } } })
  const ref = await planned(app, { runbook: step('sleep 600') })
  const { case_id: id } = ref
  await must(app, 'POST', `${ref.path}/approve`)
  await reaches(app, ref, 'executing')
  const refused = await app.request('DELETE', `/cases/${id}`)
  const running = { session_id: ref.id }
  t.match(refused, { status: 409, json: { code: 'session_running', running } })
  t.ok(existsSync(app.file(id, 'case.md')))
  await must(app, 'POST', `${ref.path}/abandon`)

  const history = readFileSync(app.file(id, 'history.md'), 'utf8')
  symlinkSync(join(app.root, 'kept.md'), app.file(id, 'link.md'))
  symlinkSync(join(app.root, 'folder'), app.file(id, 'linked'))
  mkdirSync(app.file(id, 'deep', 'er'), { recursive: true })
  writeFileSync(app.file(id, 'deep', 'er', 'x'), 'x')
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => app.request('DELETE', `/cases/${id}`)),
  )
  t.strictSame(replies.map(({ status }) => status).sort(), [200, ...Array(4).fill(404)])
  t.strictSame(readdirSync(join(app.memory, 'cases')), [])
  t.equal(readFileSync(join(app.root, 'kept.md'), 'utf8'), 'kept')
  t.strictSame(readdirSync(join(app.root, 'folder')), ['a.md'])

  mkdirSync(app.file(id))
  writeFileSync(app.file(id, 'case.md'), '---\ntitle: [broken\n---\n')
  writeFileSync(app.file(id, 'history.md'), history)
  t.match(await get(app, id), { title: /^\[broken|^[0-9a-f-]{36}$/, state: 'OPEN' }, 'made again')
  t.strictSame((await app.request('GET', `/cases/${id}/sessions`)).json, [])
  writeFileSync(app.file(id, 'case.md'), caseMd('Again'))
  const { json } = await app.request('POST', `/cases/${id}/sessions`, { type: 'planning' })
  t.equal(json.number, 2, 'no number of a session is given twice')
  await must(app, 'POST', `/cases/${id}/sessions/${json.id}/abandon`)
  await must(app, 'DELETE', `/cases/${id}`)
  await app.close()
  const left = readdirSync(app.stateDir, { recursive: true, encoding: 'utf8' })
  t.strictSame(
    left.filter((name) => name.includes(id)),
    [],
    'the state folder has no copy either',
  )
})

// The memory root

t.test(
  'the first cases, made at once, make the memory root with its git files',
  inLongLane,
  async (t) => {
    const app = await openTestService(t)
    const places: [name: string, left: () => void, ignored: RegExp][] = [
      ['where there is nothing', () => {}, /^latest\.md$/m],
      ['where somebody made the folder', () => mkdirSync(app.memory), /^index\.md$/m],
      [
        'where a start was cut short',
        () => {
          mkdirSync(app.memory)
          writeFileSync(join(app.memory, '.gitignore'), 'mine\n')
        },
        /^mine\n$/,
      ],
    ]
    for (const [name, left, ignored] of places) {
      await t.test(name, async (t) => {
        await app.close()
        rmSync(app.memory, { recursive: true, force: true })
        left()
        await app.restart()
        const replies = await Promise.all(
          Array.from({ length: 4 }, () => app.request('POST', '/cases', { title: 'A' })),
        )
        t.strictSame([...new Set(replies.map(({ status }) => status))], [201])
        const names = readdirSync(app.memory).filter((each) => each !== 'index.md')
        t.strictSame(names.sort(), ['.gitattributes', '.gitignore', 'cases'])
        t.match(readFileSync(join(app.memory, '.gitignore'), 'utf8'), ignored)
        t.match(readFileSync(join(app.memory, '.gitattributes'), 'utf8'), /history\.md merge=union/)
      })
    }
  },
)

t.test('no case is made or read through a link in place of the folder of cases', async (t) => {
  const app = await openTestService(t, { files: { memory: {}, elsewhere: {} } })
  symlinkSync(join(app.root, 'elsewhere'), join(app.memory, 'cases'))
  const reply = await app.request('POST', '/cases', { title: 'A' })
  t.match(reply, { status: 409, json: { code: 'unreadable_file' } })
  t.strictSame(readdirSync(join(app.root, 'elsewhere')), [])
  const health = async () => (await app.request('GET', '/health')).json.problems
  t.match(await health(), [{ code: 'symbolic_link', file: 'cases' }])
  unlinkSync(join(app.memory, 'cases'))
  const { id } = await app.newCase({ title: 'Now' })
  renameSync(join(app.memory, 'cases'), join(app.root, 'elsewhere', 'cases'))
  symlinkSync('../elsewhere/cases', join(app.memory, 'cases'))
  await app.service.refresher.rescan()
  t.match(await health(), [{ code: 'symbolic_link', file: 'cases' }])
  t.equal((await get(app, id)).title, 'Now', 'what was known is served')
  rmSync(join(app.memory, 'cases'))
  renameSync(join(app.root, 'elsewhere', 'cases'), join(app.memory, 'cases'))
  await app.service.refresher.rescan()
  t.strictSame(await health(), [])
})
