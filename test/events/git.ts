import { execFile, execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { INDEX_MARKER } from '../../src/markdown/case-index.ts'
import { newSessionText } from '../../src/markdown/session-texts.ts'
import { DEFAULT_EVENTS } from '../../src/model/event-lookup.ts'
import type { TrailLine } from '../../src/model/trail.ts'
import { stolenTime } from '../fixtures/cpu-time.ts'
import { renameOver } from '../fixtures/editors.ts'
import { inLongLane, isFull, isLong } from '../fixtures/full.ts'
import { listen, type PublishedEvents } from '../fixtures/published-events.ts'
import { openReceiver } from '../fixtures/receiver.ts'
import { SESSION } from '../fixtures/records.ts'
import { git as gitIn, must } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const execute = promisify(execFile)
const WHO = ['-c', 'user.name=T', '-c', 'user.email=t@example.com']

/** Of two files each: RELIABILITY.md WA-3 in full. */
const MANY = isFull ? 300 : 100
const FEW = 80
const SENT = ['case_created', 'case_deleted', ...DEFAULT_EVENTS]
const AT_MOST_MS = 3000
const MARKER = '00000000-0000-4000-8000-00000000aaaa'

const caseText = (title: string, state = 'OPEN') =>
  `---\nid:\ntitle: ${title}\ncreated_at: 2026-01-01T00:00:00.000Z\nstate: ${state}\ntype: bug\noutcome:\ntags: []\n---\n\nWhat happens.\n\nLast line.\n`

function save(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Ways to keep the cases in git: each gives the folder in which git is run. */
const PLACES: Record<string, (root: string) => string> = {
  'in the repository of the code': (root) => {
    gitIn(root, 'init', '--quiet')
    return root
  },
  'in a repository of their own': (root) => {
    gitIn(root, 'init', '--quiet')
    const memory = join(root, 'memory')
    gitIn(memory, 'init', '--quiet')
    return memory
  },
  'in a worktree of an orphan branch': (root) => {
    const memory = join(root, 'memory')
    save(join(root, 'code.js'), '1\n')
    save(join(root, '.gitignore'), '/memory/\n')
    gitIn(root, 'init', '--quiet')
    gitIn(root, 'add', '.')
    gitIn(root, 'commit', '--quiet', '--message', 'code')
    execFileSync('mv', [memory, `${memory}-files`])
    gitIn(root, 'worktree', 'add', '--quiet', '--detach', memory)
    gitIn(memory, 'checkout', '--quiet', '--orphan', 'main-of-cases')
    gitIn(memory, 'rm', '--quiet', '-rf', '.')
    execFileSync('cp', ['-a', `${memory}-files/.`, memory])
    return memory
  },
}

/** The same for a short test: ways to reach the folder in which git keeps its own files. */
const LINKED_PLACES: typeof PLACES = {
  'in a repository whose .git is a symbolic link': (root) => {
    gitIn(root, 'init', '--quiet')
    renameSync(join(root, '.git'), join(dirname(root), 'repository'))
    symlinkSync('../repository', join(root, '.git'))
    return root
  },
  'in a repository whose .git is a file, as in a submodule': (root) => {
    gitIn(root, 'init', '--quiet')
    const memory = join(root, 'memory')
    const modules = join(root, '.git', 'modules')
    mkdirSync(modules)
    gitIn(memory, 'init', '--quiet', '--separate-git-dir', join(modules, 'memory'))
    return memory
  },
}

interface Repository {
  app: TestService
  published: PublishedEvents
  ids: string[]
  /** Where git is run. */
  folder: string
  /** Runs git where the cases are kept, while the service stands still. */
  git(...args: string[]): string
  /** Runs git beside the service. */
  run(...args: string[]): Promise<unknown>
  /** Commits all that is there. */
  commit(message: string): void
  /** Resolves when all that was done to the files before is told. */
  settled(): Promise<void>
}

/** A service on cases that are committed; its git hooks and settings are those of nobody. */
async function openRepository(
  t: Test,
  place: string,
  count: number,
  options: { gitTimeoutMs?: number } = {},
): Promise<Repository> {
  const ids = Array.from({ length: count }, () => randomUUID())
  const cases = Object.fromEntries(
    ids.map((id) => [id, { 'case.md': caseText('A'), 'notes.md': 'A\n' }]),
  )
  const app = await openTestService(t, { files: { memory: { cases } }, ...options })
  await app.close()
  rmSync(join(app.memory, 'index.md'))
  const folder = { ...PLACES, ...LINKED_PLACES }[place]!(app.root)
  const git = (...args: string[]) => gitIn(folder, ...args)
  const commit = (message: string) => {
    git('add', '--all')
    git('commit', '--quiet', '--message', message)
  }
  const exclude = git('rev-parse', '--git-path', 'info/exclude').trim()
  save(resolve(folder, exclude), `${MARKER}/\n.casefile-*\n`)
  commit('A')
  save(app.file(MARKER, 'case.md'), caseText('Marker'))
  await app.restart()
  await app.service.watched()
  const published = listen(t, app)
  let turn = 0
  return {
    app,
    published,
    ids,
    folder,
    git,
    commit,
    run: (...args) => execute('git', [...WHO, ...args], { cwd: folder }),
    async settled() {
      const filename = `m${turn++}.md`
      await renameOver(app.file(MARKER, filename), 'x\n')
      await published.next(({ payload }) => payload.filename === filename)
      await app.service.refresher.freshenAll('all')
      await app.service.eventLog.flushed()
    },
  }
}

interface Seen {
  state: string
  title: string
  fields: string
  /** By id: whether it is verified, and its bytes. */
  proofs: Record<string, [boolean, string]>
  /** By name: their text. */
  notes: Record<string, string>
}

/** What the files say, read in the plainest way. */
function onDisk(app: TestService): Map<string, Seen> {
  const seen = new Map<string, Seen>()
  for (const id of readdirSync(join(app.memory, 'cases'))) {
    if (id === MARKER || !existsSync(app.file(id, 'case.md'))) continue
    const text = readFileSync(app.file(id, 'case.md'), 'utf8')
    const proofs: Seen['proofs'] = {}
    const names = existsSync(app.file(id, 'proof')) ? readdirSync(app.file(id, 'proof')) : []
    for (const name of names) {
      const proof = readFileSync(app.file(id, 'proof', name), 'utf8')
      proofs[name.slice(0, -3)] = [/^verified: true$/m.test(proof), proof]
    }
    const value = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(text)?.[1] ?? ''
    const fields = text.replace(/^state: .*$/m, '')
    const notes: Seen['notes'] = {}
    for (const name of readdirSync(app.file(id))) {
      if (!name.endsWith('.md') || name === 'case.md') continue
      // the service appends to it in its own time, which is no event
      if (name !== 'history.md') notes[name] = readFileSync(app.file(id, name), 'utf8')
    }
    seen.set(id, { state: value('state'), title: value('title'), fields, proofs, notes })
  }
  return seen
}

/** The events that docs/git.md promises for what differs, by case. */
function eventsOf(before: Map<string, Seen>, after: Map<string, Seen>): Record<string, string[]> {
  const events: Record<string, string[]> = {}
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(id), after.get(id)]
    const words: string[] = []
    if (!is) words.push('case_deleted')
    else {
      if (!was) words.push('case_created')
      else if (was.state !== is.state) words.push(`case_state_changed ${was.state} ${is.state}`)
      if (was && was.fields !== is.fields) words.push('case_updated')
      for (const [pid, [verified, text]] of Object.entries(is.proofs)) {
        const old = was?.proofs[pid]
        if (!old) words.push(`proof_created ${pid}`)
        if (old ? old[1] !== text : verified) words.push(`proof_updated ${pid} ${verified}`)
      }
      for (const pid of Object.keys(was?.proofs ?? {})) {
        if (!is.proofs[pid]) words.push(`proof_updated ${pid} false`)
      }
      for (const name of new Set([...Object.keys(was?.notes ?? {}), ...Object.keys(is.notes)])) {
        if (was?.notes[name] !== is.notes[name]) words.push(`memory_updated ${name}`)
      }
    }
    if (words.length > 0) events[id] = words.sort()
  }
  return events
}

/** What was told from this index of the history on, by case, in the same words. */
function toldBy(published: PublishedEvents, from: number): Record<string, string[]> {
  const events: Record<string, string[]> = {}
  for (const { event_type, payload } of published.history.slice(from)) {
    const { case_id, old_state, new_state, proof_id, verified, code, filename } = payload
    if (case_id === MARKER || filename === 'history.md') continue
    const words = [event_type, old_state, new_state, proof_id, verified, code, filename]
    events[case_id] ??= []
    events[case_id].push(words.filter((word) => word !== undefined).join(' '))
    events[case_id].sort()
  }
  return events
}

/** Runs git, then checks that the index is the disk in time, and that nothing else was told. */
async function after(
  t: Test,
  { app, published, settled }: Repository,
  work: () => Promise<unknown>,
): Promise<void> {
  const before = onDisk(app)
  const from = published.history.length
  await work()
  const stolen = stolenTime(t)
  const ended = performance.now()
  const isInTime = () => performance.now() - ended - stolen() < AT_MOST_MS
  const wanted = onDisk(app)
  const titles = (cases: Map<string, Seen>) =>
    [...cases].map(([id, { state, title }]) => `${id} ${state} ${title}`).sort()
  let listed: string[] = []
  do {
    const list = (await app.request('GET', '/cases')).json as Record<string, string>[]
    listed = list
      .filter(({ id }) => id !== MARKER)
      .map(({ id, state, title }) => `${id} ${state} ${title}`)
      .sort()
  } while (JSON.stringify(listed) !== JSON.stringify(titles(wanted)) && isInTime())
  t.strictSame(listed, titles(wanted), 'the index is the disk')
  const current = performance.now() - ended
  await settled()
  t.comment(
    `current after ${current.toFixed()} ms, told after ${(performance.now() - ended).toFixed()} ms`,
  )
  t.ok(isInTime(), 'in time')
  t.strictSame(toldBy(published, from), eventsOf(before, wanted))
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const proofText = (content: string, verified: boolean) =>
  `---\ntype: log\nsha256: ${sha256(content)}\nverified: ${verified}\n---\n\n\`\`\`text\n${content}\n\`\`\`\n`

/** Changes that differ from case to case; to be committed by the caller. */
function changeMany({ app, ids }: Repository): void {
  for (const [index, id] of ids.entries()) {
    const title = index % 3 === 0 ? 'B' : 'A'
    save(app.file(id, 'case.md'), caseText(title, index % 2 === 0 ? 'BLOCKED' : 'OPEN'))
    save(app.file(id, 'notes.md'), 'B\n')
    if (index % 5 === 0) {
      save(app.file(id, 'proof', `${randomUUID()}.md`), proofText('x', index % 2 === 0))
    }
    if (index % 10 === 9) rmSync(app.file(id), { recursive: true })
  }
  save(app.file(randomUUID(), 'case.md'), caseText('C'))
}

const change = (path: string, from: string | RegExp, to: string) =>
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))

for (const [index, place] of Object.keys(PLACES).entries()) {
  t.test(`what git does to cases ${place}`, inLongLane, async (t) => {
    const repository = await openRepository(t, place, index === 0 ? MANY : FEW)
    const { app, published, ids, folder, git, run, commit, settled } = repository
    const [first, second, third, fourth] = ids as [string, string, string, string]
    const receiver = await openReceiver(t)
    const wanted = { url: receiver.url, events: SENT }
    const registered = await app.request('POST', '/webhooks', wanted)
    const main = git('branch', '--show-current').trim()
    git('checkout', '--quiet', '-b', 'other')
    changeMany(repository)
    commit('B')
    await settled()
    const steps: [string, () => Promise<unknown>, (() => void)?][] = [
      [`checkout of ${ids.length} differing cases`, () => run('checkout', '--quiet', main)],
      ['and back', () => run('checkout', '--quiet', 'other')],
      ['and back again', () => run('checkout', '--quiet', main)],
      ['a fourth time', () => run('checkout', '--quiet', 'other')],
      ['a fifth', () => run('checkout', '--quiet', main)],
      ['merge', () => run('merge', '--quiet', 'other', '--no-ff', '--message', 'merge')],
      ['reset --hard', () => run('reset', '--quiet', '--hard', 'HEAD~1')],
      [
        'stash',
        () => run('stash', '--quiet'),
        () => {
          for (const id of ids.slice(0, 20)) change(app.file(id, 'case.md'), 'OPEN', 'WATCHLIST')
          for (const id of ids.slice(10, 30)) change(app.file(id, 'case.md'), 'Last', 'Very last')
        },
      ],
      ['stash pop', () => run('stash', 'pop', '--quiet')],
      ['checkout of the files alone', () => run('checkout', '--quiet', '--', '.')],
      [
        'pull from a remote',
        () => run('pull', '--quiet', '--no-rebase', 'there', main),
        () => {
          const remote = join(dirname(app.root), 'remote.git')
          const clone = join(dirname(app.root), 'clone')
          gitIn(app.root, 'init', '--quiet', '--bare', remote)
          git('remote', 'add', 'there', remote)
          git('push', '--quiet', 'there', 'HEAD:refs/heads/' + main)
          gitIn(app.root, 'clone', '--quiet', '--branch', main, remote, clone)
          const names = readdirSync(clone).includes('memory') ? ['memory', 'cases'] : ['cases']
          for (const id of ids.slice(0, 50)) {
            change(join(clone, ...names, id, 'case.md'), 'title: A', 'title: Pulled')
          }
          gitIn(clone, 'commit', '--quiet', '--all', '--message', 'theirs')
          gitIn(clone, 'push', '--quiet')
          change(app.file(ids[60]!, 'case.md'), 'title: A', 'title: Mine')
          git('commit', '--quiet', '--all', '--message', 'mine')
        },
      ],
      [
        'rebase of five commits',
        () => run('rebase', '--quiet', main),
        () => {
          git('checkout', '--quiet', '-b', 'long', 'HEAD~1')
          for (let turn = 0; turn < 5; turn++) {
            change(app.file(ids[70]!, 'case.md'), /What happens.*/, `What happens ${turn}.`)
            change(app.file(ids[71 + turn]!, 'case.md'), 'title: A', `title: L${turn}`)
            git('commit', '--quiet', '--all', '--message', `long ${turn}`)
          }
        },
      ],
    ]
    for (const [name, work, prepare] of steps) {
      t.test(name, async (t) => {
        prepare?.()
        await settled()
        await after(t, repository, work)
      })
    }

    t.test('a receiver gets each of these once', async (t) => {
      const wanted = published.history.filter(({ event_type }) => SENT.includes(event_type))
      const all = await receiver.until(wanted.length)
      t.strictSame(
        all.map(({ body }) => JSON.parse(body.toString())),
        wanted,
      )
      await app.request('DELETE', registered.headers.location as string)
    })

    t.test('merge with a conflict', async (t) => {
      git('checkout', '--quiet', '-b', 'left')
      change(app.file(first, 'case.md'), /^title: .*$/m, 'title: Left')
      change(app.file(second, 'case.md'), /^title: .*$/m, 'title: Clean')
      git('commit', '--quiet', '--all', '--message', 'left')
      git('checkout', '--quiet', '-b', 'right', 'HEAD~1')
      change(app.file(first, 'case.md'), /^title: .*$/m, 'title: Right')
      change(app.file(third, 'case.md'), /^title: .*$/m, 'title: Right')
      git('commit', '--quiet', '--all', '--message', 'right')
      await settled()
      const from = published.history.length
      await t.rejects(run('merge', '--quiet', 'left'), 'git tells a conflict')
      await published.next(({ event_type }) => event_type === 'problem_found')
      await settled()
      t.strictSame(toldBy(published, from), {
        [first]: ['problem_found merge_conflict'],
        [second]: ['case_updated'],
      })
      const shown = (await app.request('GET', `/cases/${first}`)).json
      t.equal(shown.title, 'Right', 'the last good value')
      t.match(shown.problems, [{ code: 'merge_conflict', file: 'case.md', line: 3 }])
      t.equal((await app.request('PUT', `/cases/${first}`, { title: 'x' })).status, 409)
      const other = await app.request('PUT', `/cases/${fourth}`, { title: 'Other' })
      t.equal(other.status, 200, 'other cases are written in the middle of a merge')

      const before = published.history.length
      change(app.file(first, 'case.md'), /^<<<<<<<[\s\S]*?^>>>>>>> .*\n/m, 'title: Both\n')
      await published.next(({ event_type }) => event_type === 'problem_cleared')
      commit('merged')
      await settled()
      t.strictSame(toldBy(published, before), {
        [first]: ['case_updated', 'problem_cleared merge_conflict'],
      })
      t.equal((await app.request('GET', `/cases/${first}`)).json.title, 'Both')
    })

    t.test("index.md is in nobody's way", async (t) => {
      const status = git('status', '--porcelain').trimEnd().split('\n')
      // the history of an edit by hand may just have been written
      t.strictSame(
        status.filter((line) => line !== '' && !line.endsWith('/history.md')),
        [],
      )
      t.notOk(existsSync(join(app.memory, 'index.md')), 'git does not ignore it here')
      const exclude = git('rev-parse', '--git-path', 'info/exclude').trim()
      t.equal(readFileSync(resolve(folder, exclude), 'utf8'), `${MARKER}/\n.casefile-*\n`)
    })

    t.test('an edit of notes right before a commit is told', async (t) => {
      const from = published.history.length
      for (let turn = 0; turn < 10; turn++) {
        appendFileSync(app.file(fourth, 'notes.md'), `line ${turn}\n`)
        await run('commit', '--quiet', '--all', '--message', `notes ${turn}`)
        await published.next(
          ({ payload }) => payload.filename === 'notes.md' && payload.case_id === fourth,
        )
        await published.newEvents()
      }
      await settled()
      t.strictSame(toldBy(published, from), { [fourth]: Array(10).fill('memory_updated notes.md') })
    })

    t.test('an edit of notes right after a commit is told', async (t) => {
      const from = published.history.length
      for (let turn = 0; turn < 10; turn++) {
        change(app.file(first, 'case.md'), /^title: .*$/m, `title: Turn ${turn}`)
        git('commit', '--quiet', '--all', '--message', `title ${turn}`)
        // often in the same tick of the clock
        appendFileSync(app.file(fourth, 'notes.md'), `after ${turn}\n`)
        await published.next(
          ({ payload }) => payload.filename === 'notes.md' && payload.case_id === fourth,
        )
        await published.newEvents()
      }
      t.strictSame(toldBy(published, from)[fourth], Array(10).fill('memory_updated notes.md'))
      commit('notes')
    })
  })
}

t.test(
  'an older history.md stays where git puts it, and gets the new lines where an editor does',
  inLongLane,
  async (t) => {
    const place = 'in the repository of the code'
    const { app, git, ids } = await openRepository(t, place, 1)
    const [id = ''] = ids
    const history = app.file(id, 'history.md')
    await must(app, 'PUT', `/cases/${id}`, { title: 'First' })
    git('add', '--all')
    git('commit', '--quiet', '--message', 'first')
    const first = readFileSync(history, 'utf8')
    await must(app, 'PUT', `/cases/${id}`, { title: 'Second' })
    t.match(readFileSync(history, 'utf8'), 'Second')
    git('checkout', '--quiet', '--', '.')
    await app.close()
    t.equal(readFileSync(history, 'utf8'), first)

    await app.restart()
    await must(app, 'PUT', `/cases/${id}`, { title: 'Third' })
    writeFileSync(history, first)
    await app.close()
    t.match(readFileSync(history, 'utf8'), 'Third')
  },
)

t.test('what a checkout, a stash and a merge change is told once', async (t) => {
  const repository = await openRepository(t, 'in the repository of the code', 5)
  const { app, published, ids, git, run, commit, settled } = repository
  const [first, second, third, fourth, gone] = ids as [string, string, string, string, string]
  const main = git('branch', '--show-current').trim()
  const steps: [string, () => unknown, () => Promise<unknown>][] = [
    [
      'a checkout',
      () => {
        git('checkout', '--quiet', '-b', 'other')
        save(app.file(first, 'case.md'), caseText('B', 'BLOCKED'))
        save(app.file(second, 'notes.md'), 'B\n')
        save(app.file(third, 'proof', `${randomUUID()}.md`), proofText('x', true))
        rmSync(app.file(gone), { recursive: true })
        save(app.file(randomUUID(), 'case.md'), caseText('C'))
        commit('B')
      },
      () => run('checkout', '--quiet', main),
    ],
    ['and back', () => {}, () => run('checkout', '--quiet', 'other')],
    [
      'a stash',
      () => {
        change(app.file(first, 'case.md'), 'BLOCKED', 'WATCHLIST')
        change(app.file(fourth, 'notes.md'), 'A', 'Mine')
      },
      () => run('stash', '--quiet'),
    ],
    ['and back', () => {}, () => run('stash', 'pop', '--quiet')],
    ['a reset', () => {}, () => run('reset', '--quiet', '--hard', 'HEAD~1')],
  ]
  for (const [name, prepare, work] of steps) {
    await t.test(name, async (t) => {
      prepare()
      await settled()
      const before = onDisk(app)
      const from = published.history.length
      await work()
      await settled()
      t.strictSame(toldBy(published, from), eventsOf(before, onDisk(app)))
      t.equal((await app.request('GET', '/cases')).json.length, onDisk(app).size + 1)
    })
  }

  await t.test('a merge with a conflict', async (t) => {
    git('checkout', '--quiet', '-b', 'left')
    change(app.file(first, 'case.md'), /^title: .*$/m, 'title: Left')
    change(app.file(second, 'case.md'), /^title: .*$/m, 'title: Clean')
    git('commit', '--quiet', '--all', '--message', 'left')
    git('checkout', '--quiet', '-b', 'right', 'HEAD~1')
    change(app.file(first, 'case.md'), /^title: .*$/m, 'title: Right')
    git('commit', '--quiet', '--all', '--message', 'right')
    await settled()
    const from = published.history.length
    await t.rejects(run('merge', '--quiet', 'left'), 'git tells a conflict')
    await published.next(({ event_type }) => event_type === 'problem_found')
    await settled()
    const told = { [first]: ['problem_found merge_conflict'], [second]: ['case_updated'] }
    t.strictSame(toldBy(published, from), told)
    const shown = (await app.request('GET', `/cases/${first}`)).json
    t.match(shown, { title: 'Right', problems: [{ code: 'merge_conflict', line: 3 }] })
    t.equal((await app.request('PUT', `/cases/${first}`, { title: 'x' })).status, 409)
    t.equal((await app.request('PUT', `/cases/${third}`, { title: 'Other' })).status, 200)
  })
})

const places = [...Object.keys(PLACES), ...Object.keys(LINKED_PLACES)]
for (const place of isLong ? places : places.slice(0, 1)) {
  t.test(`while git holds its lock on cases ${place}`, async (t) => {
    const repository = await openRepository(t, place, 4, { gitTimeoutMs: 1000 })
    const { app, published, ids, folder, git, settled } = repository
    const [edited, other, gone, calm] = ids as [string, string, string, string]
    const made = randomUUID()
    const lock = resolve(folder, git('rev-parse', '--git-path', 'index.lock').trim())
    const title = async (id: string) => (await app.request('GET', `/cases/${id}`)).json.title
    const put = (id: string) => app.request('PUT', `/cases/${id}`, { title: 'Requested' })
    await settled()
    const from = published.history.length

    writeFileSync(lock, '')
    await renameOver(app.file(edited, 'case.md'), caseText('Edited'))
    writeFileSync(app.file(other, 'case.md'), caseText('Edited', 'BLOCKED'))
    rmSync(app.file(gone), { recursive: true })
    save(app.file(made, 'case.md'), caseText('Made'))
    const refused = put(calm)
    const first = await Promise.race([refused.then(() => 'refused'), title(calm)])
    t.equal(first, 'A', 'a case is read while a write of it waits')
    t.equal(await title(edited), 'A', 'what was known is served')
    t.equal(await title(gone), 'A')
    t.equal((await app.request('GET', `/cases/${made}`)).status, 404)
    t.equal((await app.request('GET', '/cases')).json.length, ids.length + 1)
    t.match(await refused, { status: 409, json: { type: /git_busy/, detail: /index\.lock/ } })
    t.match(await app.request('POST', '/cases', { title: 'x' }), { status: 409 })
    t.match(await app.request('PUT', `/cases/${calm}/memory/x.md`, 'x'), { status: 409 })
    t.strictSame(toldBy(published, from), {}, 'nothing is told')

    const waits = put(calm)
    await title(calm)
    rmSync(lock)
    t.equal((await waits).status, 200, 'a write that waits is done when git is')
    await settled()
    t.strictSame(toldBy(published, from), {
      [edited]: ['case_updated'],
      [other]: ['case_state_changed OPEN BLOCKED', 'case_updated'],
      [gone]: ['case_deleted'],
      [made]: ['case_created'],
      [calm]: ['case_updated'],
    })
    t.equal(await title(edited), 'Edited')

    writeFileSync(lock, '')
    const longAgo = Date.now() / 1000 - 3600
    utimesSync(lock, longAgo, longAgo)
    const later = published.history.length
    await renameOver(app.file(edited, 'case.md'), caseText('Edited again'))
    await settled()
    t.strictSame(toldBy(published, later), { [edited]: ['case_updated'] }, 'a lock that was left')
    t.equal((await put(edited)).status, 200)
    rmSync(lock)
  })
}

t.test('sessions and plans that come by git start nothing', async (t) => {
  const states = ['planning', 'plan_ready', 'approved', 'executing', 'complete'] as const
  const repository = await openRepository(t, 'in the repository of the code', states.length)
  const { app, published, ids, git, run, commit, settled } = repository
  const proof = join(app.root, 'ran')
  git('checkout', '--quiet', '-b', 'theirs')
  const sessions = new Map<string, string>()
  for (const [index, state] of states.entries()) {
    const id = randomUUID()
    sessions.set(ids[index]!, id)
    const moves = [...states.slice(0, index + 1)]
    const trail = moves.map(
      (new_state, at): TrailLine => ({
        number: at + 1,
        time: '2026-01-01T00:00:00.000Z',
        event: 'session_state_changed',
        fields: { old_state: at === 0 ? 'created' : states[at - 1]!, new_state },
      }),
    )
    const case_id = ids[index]!
    const session = { ...SESSION, id, case_id, case_title: 'A', number: 1, state, trail }
    const text = (await newSessionText(session)).replace(
      '## Plan\n',
      `## Plan\n\n\`\`\`sh run id=x\ntouch ${proof}\n\`\`\`\n`,
    )
    save(app.file(case_id, 'sessions', '1.md'), text)
  }
  commit('theirs')
  git('checkout', '--quiet', '-')
  await settled()
  const from = published.history.length
  await run('checkout', '--quiet', 'theirs')
  await settled()
  const foreign = ['planning', 'approved', 'executing'].map(
    (state) => ids[states.indexOf(state as never)]!,
  )
  t.strictSame(
    toldBy(published, from),
    Object.fromEntries(foreign.map((id) => [id, ['problem_found foreign_session']])),
    'they are told as what they are',
  )
  for (const [case_id, id] of sessions) {
    t.notOk(app.service.running.has(id))
    t.equal((await app.request('GET', `/cases/${case_id}/sessions`)).json.length, 1)
  }
  await run('checkout', '--quiet', '-')
  await settled()
  t.notOk(existsSync(proof), 'nothing was executed')
})

t.test(
  'sessions that git takes away follow the files, those deleted by hand are told in the history',
  inLongLane,
  async (t) => {
    const repository = await openRepository(t, 'in the repository of the code', 2)
    const { app, published, ids, folder, run, git, commit, settled } = repository
    const [id] = ids as [string]
    const { json } = await app.request('POST', `/cases/${id}/sessions`, { type: 'planning' })
    await published.next(
      ({ payload }) => payload.session_id === json.id && payload.new_state === 'plan_ready',
    )
    await settled()
    commit('with')
    git('checkout', '--quiet', '-b', 'without')
    git('rm', '--quiet', '-r', app.file(id, 'sessions'))
    git('commit', '--quiet', '--message', 'without')
    git('checkout', '--quiet', '-')
    await settled()
    const from = published.history.length
    const problems = async () => {
      const found = (await app.request('GET', `/cases/${id}`)).json.problems
      return found.map((each: { code: string }) => each.code)
    }
    const sessions = async () =>
      (await app.request('GET', `/cases/${id}/sessions`)).json.length as number
    await run('checkout', '--quiet', 'without')
    await settled()
    t.same([await sessions(), await problems()], [0, []])
    await run('checkout', '--quiet', '-')
    await settled()
    t.same([await sessions(), await problems()], [1, []])
    t.strictSame(toldBy(published, from), {}, 'none of it is a problem')

    await app.close()
    git('checkout', '--quiet', 'without')
    await app.restart()
    t.same([await sessions(), await problems()], [0, []], 'also while no service ran')
    await app.close()
    git('checkout', '--quiet', '-')
    rmSync(app.file(id, 'sessions', '1.md'))
    await app.restart()
    t.same([await sessions(), await problems()], [0, []], 'it was not known here')
    git('checkout', '--quiet', '--', '.')
    await app.service.refresher.rescan()
    await app.service.refresher.freshenAll()
    t.equal(await sessions(), 1)
    await app.close()
    rmSync(app.file(id, 'sessions', '1.md'))
    await app.restart()
    t.same([await sessions(), await problems()], [0, []])
    const DELETED = /deleted session \d+ by hand/
    const history = () => readFileSync(app.file(id, 'history.md'), 'utf8')
    while (!DELETED.test(history())) await delay(5)
    t.equal(history().match(new RegExp(DELETED, 'g'))?.length, 1, 'nothing that git did')

    await t.test('an index.md that git tracks is left as it is', async (t) => {
      await app.close()
      const path = join(app.memory, 'index.md')
      save(path, `${INDEX_MARKER}\n\nAs it was committed.\n`)
      const exclude = git('rev-parse', '--git-path', 'info/exclude').trim()
      writeFileSync(resolve(folder, exclude), `${MARKER}/\n`)
      commit('index')
      await app.restart()
      await app.request('PUT', `/cases/${id}`, { title: 'B' })
      await app.close()
      t.match(readFileSync(path, 'utf8'), /As it was committed/)
      t.match(app.log.join('\n'), /index\.md is not written: git does not ignore it/)
    })
  },
)
