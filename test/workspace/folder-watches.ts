import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { watchFolders } from '../../src/workspace/folder-watches.ts'

interface Opened {
  cases: string
  file(id: string, ...names: string[]): string
  make(id: string, ...names: string[]): void
  /** What the watches tell while and after something is done, until they have told `last` too. */
  toldOf(work: () => void, last?: string): Promise<Set<string>>
}

/** Watches on cases with these folders within. */
async function open(t: Test, cases: Record<string, string[]>): Promise<Opened> {
  t.teardown(() => {}) // or tap removes the testdir before the watches are given up
  const dir = t.testdir({ cases: {}, outside: {} })
  const file = (...names: string[]) => join(dir, 'cases', ...names)
  const make = (...names: string[]) => mkdirSync(file(...names), { recursive: true })
  for (const [id, inner] of Object.entries(cases)) for (const name of [...inner, '']) make(id, name)
  let told = new Set<string>()
  let wake = () => {}
  const watches = watchFolders({
    cases: join(dir, 'cases'),
    ids: () => Object.keys(cases).slice(1),
    hint(path) {
      told.add(path)
      wake()
    },
    onFlood: () => t.fail('no flood'),
    onError: (error) => t.fail(String(error)),
  })
  t.teardown(() => watches.close())
  await watches.ready
  return {
    ...{ cases: join(dir, 'cases'), file, make },
    async toldOf(work, last = 'the last') {
      told = new Set()
      work()
      if (last === 'the last') writeFileSync(file(last), '')
      while (!told.has(last)) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate) // folders are followed in another turn
      return told
    },
  }
}

const [one, two] = [randomUUID(), randomUUID()]

t.test('a file is told by its path, in folders that were known and in others', async (t) => {
  const { file, toldOf } = await open(t, { [one]: ['sessions', 'artifacts'], [two]: ['proof'] })
  const told = await toldOf(() => {
    writeFileSync(file(one, 'case.md'), '')
    writeFileSync(file(one, 'sessions', '1.md'), '')
    writeFileSync(file(two, 'proof', 'x.md'), '')
    writeFileSync(file(two, 'proof', 'x.md.tmp'), '')
    writeFileSync(file(two, '.case.md.swp'), '')
    writeFileSync(file(one, 'artifacts', 'big.log'), '')
  })
  t.strictSame(
    [...told].sort(),
    ['the last', `${one}/case.md`, `${one}/sessions/1.md`, `${two}/proof/x.md`].sort(),
    'what editors leave beside is not told, and artifacts are not watched',
  )
})

t.test('a folder that comes is watched, and its case looked at then', async (t) => {
  const { file, make, toldOf } = await open(t, { [one]: [] })
  t.ok((await toldOf(() => make(one, 'sessions'))).has(one))
  t.ok(
    (await toldOf(() => writeFileSync(file(one, 'sessions', '1.md'), '1'))).has(
      `${one}/sessions/1.md`,
    ),
  )
  t.ok((await toldOf(() => make(two, 'proof'))).has(two))
  const path = `${two}/proof/x.md`
  t.ok((await toldOf(() => writeFileSync(file(path), ''))).has(path))
})

t.test('a folder that gives way to another one', async (t) => {
  const replacements: Record<string, (path: string) => void> = {
    'made anew, perhaps with the same inode'(path) {
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
      const { file, toldOf } = await open(t, { [one]: ['proof'], [two]: [] })
      t.ok((await toldOf(() => replace(file(one, 'proof')))).has(one))
      const inner = `${one}/proof/x.md`
      t.ok((await toldOf(() => writeFileSync(file(inner), ''))).has(inner))
      t.ok((await toldOf(() => replace(file(one)))).has(one))
      const own = `${one}/case.md`
      t.ok((await toldOf(() => writeFileSync(file(own), ''))).has(own))
    })
  }

  await t.test('two cases that change places', async (t) => {
    const { file, toldOf } = await open(t, { [one]: ['proof'], [two]: ['proof'] })
    await toldOf(() => {
      renameSync(file(one), file('aside'))
      renameSync(file(two), file(one))
      renameSync(file('aside'), file(two))
    })
    for (const path of [`${one}/case.md`, `${two}/proof/x.md`]) {
      const told = await toldOf(() => writeFileSync(file(path), ''))
      t.strictSame([...told].sort(), [path, 'the last'].sort())
    }
  })
})

t.test('a link is no folder: what is behind it is not watched', async (t) => {
  const { cases, file, toldOf } = await open(t, { [one]: ['proof'] })
  const outside = join(cases, '..', 'outside')
  await toldOf(() => {
    rmSync(file(one, 'proof'), { recursive: true })
    symlinkSync(outside, file(one, 'proof'))
  })
  t.strictSame([...(await toldOf(() => writeFileSync(join(outside, 'x.md'), '')))], ['the last'])
  t.ok(
    (await toldOf(() => symlinkSync(outside, file(two)), '')).has(two),
    'all names are looked at',
  )
  t.strictSame([...(await toldOf(() => writeFileSync(join(outside, 'case.md'), '')))], ['the last'])
})

t.test('where the folder of cases is a link or not there, nothing is watched', async (t) => {
  const dir = t.testdir({ there: {}, linked: t.fixture('symlink', 'there') })
  for (const name of ['linked', 'missing']) {
    const told: string[] = []
    const watches = watchFolders({
      ...{ cases: join(dir, name), ids: () => [one], hint: (path) => told.push(path) },
      ...{ onFlood() {}, onError: (error) => t.fail(String(error)) },
    })
    await watches.ready
    watches.close()
    t.strictSame(told, [])
  }
})
