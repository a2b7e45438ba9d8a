import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createFolderWatcher } from '../../src/workspace/sync/folder-watcher.ts'

/** The watcher on cases with these folders within. */
async function open(t: Test, cases: Record<string, string[]>) {
  t.teardown(() => {}) // or tap removes the testdir before the watches are given up
  const dir = t.testdir({ memory: { cases: {} }, outside: {} })
  const root = join(dir, 'memory')
  const file = (...names: string[]) => join(root, 'cases', ...names)
  const make = (...names: string[]) => mkdirSync(file(...names), { recursive: true })
  for (const [id, inner] of Object.entries(cases)) for (const name of [...inner, '']) make(id, name)
  const events = new Set<string>()
  const watcher = createFolderWatcher({
    cases: file(),
    onEvent: (path) => events.add(path),
    onRootChange: () => void watcher.followRoot(),
    log: t.fail,
  })
  t.teardown(() => watcher.close())
  await watcher.followRoot()
  return {
    dir,
    root,
    file,
    make,
    watcher,
    /** What is heard while and after something is done, up to a file that is made last. */
    async heardOf(work: () => void): Promise<string[]> {
      events.clear()
      work()
      writeFileSync(file('last'), String(Math.random()))
      while (!events.has('last')) await delay(2)
      await delay(20)
      events.delete('last')
      return [...events].sort()
    },
    /** Resolves when a save of this file is heard of, which happens again and again. */
    async hears(...names: string[]): Promise<void> {
      events.clear()
      while (!events.has(names.join('/'))) {
        writeFileSync(file(...names), String(Math.random()))
        await delay(20)
      }
    },
  }
}

const [one, two] = [randomUUID(), randomUUID()]

t.test('a save is heard of by its path, but not what editors leave beside', async (t) => {
  const { file, heardOf } = await open(t, { [one]: ['sessions', 'artifacts'], [two]: ['proof'] })
  const heard = await heardOf(() => {
    writeFileSync(file(one, 'case.md'), '')
    writeFileSync(file(one, 'sessions', '1.md'), '')
    writeFileSync(file(two, 'proof', 'x.md'), '')
    writeFileSync(file(two, 'proof', 'x.md.tmp'), '')
    writeFileSync(file(two, '.case.md.swp'), '')
    writeFileSync(file(one, 'artifacts', 'big.log'), '')
  })
  const expected = [`${one}/case.md`, `${one}/sessions/1.md`, `${two}/proof/x.md`]
  t.strictSame(heard, expected.sort(), 'nor of artifacts')
})

t.test('two saves within a few ms are both heard of', async (t) => {
  const { file, watcher } = await open(t, { [one]: [] })
  let heard = 0
  const counting = createFolderWatcher({
    cases: file(),
    onEvent: (path) => path === `${one}/case.md` && heard++,
    onRootChange() {},
    log: t.fail,
  })
  t.teardown(() => counting.close())
  await counting.followRoot()
  writeFileSync(file(one, 'case.md'), 'first')
  while (heard === 0) await delay(1)
  await delay(10)
  heard = 0
  writeFileSync(file(one, 'case.md'), 'second')
  while (heard === 0) await delay(1)
  t.ok(watcher.isWatching())
})

t.test('a folder that comes is watched, and its case is to be read then', async (t) => {
  const { file, make, heardOf } = await open(t, { [one]: [] })
  t.ok((await heardOf(() => make(one, 'sessions'))).includes(one))
  const inner = `${one}/sessions/1.md`
  t.ok((await heardOf(() => writeFileSync(file(inner), ''))).includes(inner))
  t.ok((await heardOf(() => make(two, 'proof'))).includes(two))
  for (const path of [`${two}/proof/x.md`, `${two}/case.md`]) {
    t.strictSame(await heardOf(() => writeFileSync(file(path), '')), [path])
  }
})

t.test('a folder that gives way to another one', async (t) => {
  const replacements: Record<string, (path: string) => void> = {
    'made again, perhaps with the same inode'(path) {
      rmSync(path, { recursive: true })
      mkdirSync(path)
    },
    'moved away and back'(path) {
      renameSync(path, `${path}-away`)
      renameSync(`${path}-away`, path)
    },
    'moved away, another in its place'(path) {
      renameSync(path, `${path}-away`)
      mkdirSync(path)
    },
  }
  for (const [name, replace] of Object.entries(replacements)) {
    await t.test(name, async (t) => {
      const { file, heardOf } = await open(t, { [one]: ['proof'], [two]: [] })
      t.ok((await heardOf(() => replace(file(one, 'proof')))).includes(one))
      const inner = `${one}/proof/x.md`
      t.ok((await heardOf(() => writeFileSync(file(inner), ''))).includes(inner))
      t.ok((await heardOf(() => replace(file(one)))).includes(one))
      const own = `${one}/case.md`
      t.ok((await heardOf(() => writeFileSync(file(own), ''))).includes(own))
    })
  }

  await t.test('two cases that change places', async (t) => {
    const { file, heardOf } = await open(t, { [one]: ['proof'], [two]: ['proof'] })
    await heardOf(() => {
      renameSync(file(one), file('aside'))
      renameSync(file(two), file(one))
      renameSync(file('aside'), file(two))
    })
    for (const path of [`${one}/case.md`, `${two}/proof/x.md`]) {
      t.strictSame(await heardOf(() => writeFileSync(file(path), '')), [path])
    }
  })
})

t.test('a link is no folder: what is behind it is not watched', async (t) => {
  const { dir, file, heardOf } = await open(t, { [one]: ['proof'] })
  const outside = join(dir, 'outside')
  await heardOf(() => {
    rmSync(file(one, 'proof'), { recursive: true })
    symlinkSync(outside, file(one, 'proof'))
  })
  t.strictSame(await heardOf(() => writeFileSync(join(outside, 'x.md'), '')), [])
  const heard = await heardOf(() => symlinkSync(outside, file(two)))
  t.strictSame(heard, ['', two], 'all names are to be listed')
  t.strictSame(await heardOf(() => writeFileSync(join(outside, 'case.md'), '')), [])
})

t.test('a folder of cases that is a link or not there is not watched', async (t) => {
  const dir = t.testdir({ there: { [one]: {} }, linked: t.fixture('symlink', 'there') })
  for (const name of ['linked', 'missing']) {
    const watcher = createFolderWatcher({
      cases: join(dir, name),
      onEvent: (path) => t.fail(path),
      onRootChange() {},
      log: t.fail,
    })
    t.equal(watcher.health().watching, 'starting')
    await watcher.followRoot()
    writeFileSync(join(dir, 'there', one, 'case.md'), name)
    await delay(20)
    t.equal(watcher.health().watching, 'ok', 'there is nothing to watch yet')
    await watcher.close()
  }
})

t.test('a folder of cases that goes and comes is said to be gone, and watched again', async (t) => {
  const { root, file, make, hears, watcher } = await open(t, { [one]: [] })
  const before = watcher.generation()
  const became = async (watching: string) => {
    // the synchronizer asks once a second, as nothing tells that a folder comes where none is watched
    for (; watcher.health().watching !== watching; await delay(5)) await watcher.followRoot()
  }
  renameSync(file(), join(root, 'away'))
  await became('degraded')
  t.match(watcher.health().trouble, { remedy: /put it back/ })
  t.notOk(watcher.isWatching())
  make(two)
  await became('ok')
  t.ok(watcher.generation() > before, 'which asks for a rescan')
  await hears(two, 'case.md')
})
