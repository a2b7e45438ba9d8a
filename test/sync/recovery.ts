import fs, {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openMemoryGit } from '../../src/sync/memory-git.ts'
import { createBlobs } from '../../src/sync/trees.ts'
import { isInterrupted, recover } from '../../src/sync/working-tree.ts'
import { isLong } from '../fixtures/full.ts'
import { git, must } from '../fixtures/session-client.ts'
import { copiesIn, makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

/** Two clones, of which `b` lacks a commit of `a`: it changes two files, adds a case, and removes a memory file. */
async function behind(t: Test) {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  for (const name of ['old', 'kept']) {
    await must(a, 'PUT', `/cases/${id}/memory/${name}.md`, `${name}\n`)
  }
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  await must(a, 'PUT', `/cases/${id}`, { title: 'New' })
  await must(a, 'PUT', `/cases/${id}/memory/kept.md`, 'changed\n')
  await must(a, 'POST', '/cases', { title: 'Other' })
  a.git('rm', '-q', `cases/${id}/old.md`)
  await a.sync()
  return { dir, b, id }
}

const TARGET = '.git/casefile-sync-target'
const AWAY = '.casefile-sync-removed.tmp'
const AWAY_PATH = '.casefile-sync-path.tmp'

const STEPS = [
  [fs, 'renameSync'],
  [fs, 'linkSync'],
  [fs.promises, 'rename'],
  [fs.promises, 'rm'],
] as const

/** Calls `look` before and after each step that gives a file a name or takes it away, until the result is called. */
function watchSteps(look: () => void): () => void {
  const undo = STEPS.map(([owner, name]) => {
    const functions = owner as unknown as Record<string, (...args: unknown[]) => unknown>
    const original = functions[name]!
    functions[name] = (...args) => {
      look()
      const result = original(...args)
      if (!(result instanceof Promise)) look()
      return result instanceof Promise ? result.finally(look) : result
    }
    return () => {
      functions[name] = original
    }
  })
  syncBuiltinESMExports()
  return () => {
    for (const each of undo) each()
    syncBuiltinESMExports()
  }
}

const HEAD = '.git/refs/heads/main'
const isObject = (name: string) => /^\.git\/(objects|logs)\b/.test(name)

/** What a kill now would leave: the files by their names, and the commit of the branch. */
function stateOf(memory: string): string {
  const names = readdirSync(memory, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => !isObject(name) && existsSync(join(memory, name)))
  const inodes = files.map((name) => `${name} ${statSync(join(memory, name)).ino}`)
  return [readFileSync(join(memory, HEAD)), ...inodes].join('\n')
}

const leftIn = (memory: string) =>
  readdirSync(join(memory, '.git')).filter((name) => /casefile-sync|lock/.test(name))

async function recovered({ memory }: { memory: string }): Promise<boolean> {
  const git = await openMemoryGit(join(memory, '..'), memory, {})
  return recover(git, createBlobs(git))
}

t.test('a sync that is killed at any step is undone, or complete, at the next start', async (t) => {
  const { dir, b, id } = await behind(t)
  for (const [from, to] of [
    ['b', 'second'],
    ['origin.git', 'second.git'],
  ] as const)
    cpSync(join(dir, from), join(dir, to), { recursive: true, verbatimSymlinks: true })
  git(join(dir, 'second/memory'), 'remote', 'set-url', 'origin', join(dir, 'second.git'))
  const before = b.git('rev-parse', 'HEAD').trim()
  rmSync(join(b.memory, '.git/hooks'), { recursive: true })
  const kills: { name: string; memory: string; isMoving: boolean; isAway: boolean }[] = []
  let known = stateOf(b.memory)
  const stop = watchSteps(() => {
    const state = stateOf(b.memory)
    if (state === known) return
    known = state
    const name = `killed-${kills.length}`
    const memory = join(dir, name, 'memory')
    cpSync(b.memory, memory, { recursive: true, verbatimSymlinks: true })
    const note = join(memory, AWAY_PATH)
    if (existsSync(note))
      writeFileSync(
        note,
        readFileSync(note, 'utf8').replace(b.memory, () => memory),
      )
    const isAway = existsSync(join(memory, AWAY))
    const isMoving = state.startsWith(before) && existsSync(join(memory, TARGET))
    kills.push({ name, memory, isMoving, isAway })
  })
  t.match(await b.sync(), { state: 'in_sync' })
  stop()
  const moving = kills.filter(({ isMoving }) => isMoving)
  const texts = (name: string) =>
    moving.map(({ memory }) => {
      const path = join(memory, 'cases', id, name)
      return existsSync(path) ? readFileSync(path, 'utf8').trim() : 'gone'
    })
  t.strictSame([...new Set(texts('kept.md'))], ['kept', 'changed'], 'between the files too')
  t.strictSame([...new Set(texts('old.md'))], ['old', 'gone'])

  const first = moving.find(({ memory }) => git(memory, 'status', '--porcelain') !== '')!
  const away = moving.find(({ isAway }) => isAway)!
  const last = moving.at(-1)!
  const others = kills.filter((each) => ![first, away, last].includes(each))
  for (const [index, kill] of others.entries()) {
    if (!isLong && index % 4 > 0) continue
    const { memory } = kill
    const isSeen = isInterrupted(join(memory, '.git'))
    t.equal(await recovered(kill), isSeen, 'a start knows that there is something to undo')
    const isBefore = git(memory, 'rev-parse', 'HEAD').trim() === before
    if (kills.indexOf(kill) < kills.indexOf(last)) t.ok(isBefore)
    t.equal(git(memory, 'status', '--porcelain'), '', memory)
    t.strictSame(leftIn(memory), [])
    t.notOk(existsSync(join(memory, AWAY)))
    t.equal(await recovered(kill), false, 'and nothing is left to undo')
  }

  await t.test('a service puts the files back before it reads them', async (t) => {
    const log: string[] = []
    const again = await openSyncedClone(t, { dir, name: first.name, log: (line) => log.push(line) })
    t.match(log, [/^undid what a sync that was killed had begun$/])
    t.equal((await must(again, 'GET', `/cases/${id}`)).title, 'Title')
    t.equal((await must(again, 'GET', '/cases')).length, 1)
    t.equal(again.git('status', '--porcelain'), '')
    await again.close()
  })

  await t.test('what a person saved since stays', async (t) => {
    const note = join(last.memory, 'cases', id, 'kept.md')
    t.equal(readFileSync(note, 'utf8'), 'changed\n')
    writeFileSync(note, 'saved\n')
    const file = join(last.memory, 'cases', id, 'case.md')
    writeFileSync(join(last.memory, 'cases', id, 'old.md'), 'written again\n')
    const again = await openSyncedClone(t, { dir, name: last.name })
    t.equal(readFileSync(note, 'utf8'), 'saved\n')
    t.match(readFileSync(file, 'utf8'), /^title: Title$/m)
    t.match(await again.sync(), { copies: [{ file: `cases/${id}/kept.md` }] })
    t.match(readFileSync(file, 'utf8'), /^title: New$/m)
    t.equal(again.read('cases', id, 'old.md'), 'written again\n')
    await again.close()
  })

  await t.test(
    'a file that was being removed, and was made again, is a conflict copy',
    async (t) => {
      writeFileSync(join(away.memory, 'cases', id, 'old.md'), 'made again\n')
      t.ok(await recovered(away))
      t.equal(readFileSync(join(away.memory, 'cases', id, 'old.md'), 'utf8'), 'made again\n')
      const [copy] = copiesIn(away)
      t.equal(readFileSync(join(away.memory, copy!), 'utf8'), 'old\n')
      t.notOk(existsSync(join(away.memory, AWAY)))
    },
  )

  await t.test('a file that is saved while a sync moves or removes it is not lost', async (t) => {
    const b = await openSyncedClone(t, { dir, name: 'second' })
    const moments: [name: string, isNow: () => boolean][] = [
      ['old.md', () => existsSync(b.path(AWAY_PATH)) && !existsSync(b.path(AWAY))],
      ['kept.md', () => existsSync(join(b.memory, TARGET))],
    ]
    const stop = watchSteps(() => {
      const [name, isNow] = moments[0] ?? []
      if (name === undefined || !isNow!()) return
      moments.shift()
      b.write('saved meanwhile\n', 'cases', id, name)
    })
    const result = await b.sync()
    stop()
    t.strictSame(moments, [])
    t.match(result, { state: 'conflicts', copies: [{ file: `cases/${id}/kept.md` }] })
    for (const name of ['kept.md', 'old.md'])
      t.equal(b.read('cases', id, name), 'saved meanwhile\n', name)
    t.equal((await must(b, 'GET', `/cases/${id}`)).title, 'New')
    t.equal(b.git('status', '--porcelain'), '')
  })
})
