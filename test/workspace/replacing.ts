// A replacement hands over the file that it replaces, whatever comes between the last look at it and the new name.
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeDurable } from '../../src/files/durable-write.ts'
import { createKeyedMutex } from '../../src/files/keyed-mutex.ts'
import type { NewFile } from '../../src/files/new-file.ts'
import {
  type ReplacedFile,
  type ReplacedFileTracker,
  replaceSeen,
} from '../../src/files/replace-seen.ts'
import { isConflictCopy } from '../../src/model/conflict-copy.ts'
import { type Exchange, systemExchange } from '../../src/platform/exchange.ts'
import { createLateSaves } from '../../src/workspace/late-saves/late-saves.ts'
import { readReplacedFile } from '../../src/workspace/late-saves/replaced-file.ts'
import { layoutOf } from '../../src/workspace/layout.ts'
import { before } from '../fixtures/disk-calls.ts'
import { CASE_ID, NOW } from '../fixtures/records.ts'

/** Not in one step, but to the same end. */
const stepwise: Exchange = (a, b) => {
  renameSync(a, `${a}.aside`)
  renameSync(b, a)
  renameSync(`${a}.aside`, b)
}

const notSupported: Exchange = () => {
  throw Object.assign(new Error('EINVAL'), { code: 'EINVAL' })
}

/** A file `case.md` to be replaced, and what a tracker is given meanwhile. */
function replacement(t: Test, keptIn = 'kept') {
  const folder = t.testdir({ 'case.md': 'old', '.casefile-1-0123456789ab.tmp': 'new', kept: {} })
  const path = join(folder, 'case.md')
  const found: ReplacedFile[] = []
  const contents = () => found.map((at) => readReplacedFile(at)?.bytes.toString())
  t.teardown(() => {
    for (const at of found) if (typeof at === 'number') closeSync(at)
  })
  const tracker = {
    link: join(folder, keptIn, 'link'),
    keep: (displaced: ReplacedFile) => void found.push(displaced),
  }
  const replace = (exchange: Exchange | null, expect = 'old') =>
    replaceSeen(
      opened(join(folder, '.casefile-1-0123456789ab.tmp')),
      path,
      Buffer.from(expect),
      tracker,
      { exchange },
    )
  return { folder, path, found, contents, replace }
}

/** As a write leaves it, to be placed. */
function opened(path: string): NewFile {
  const fd = openSync(path, 'r+')
  return { path, fd, stats: fstatSync(fd), bytes: readFileSync(path) }
}

const ways: [string, Exchange | null][] = [
  ['by an exchange', stepwise],
  ['by a rename', null],
  ['by a rename, as the disk cannot exchange', notSupported],
]

t.test('a replacement hands over what it displaced', async (t) => {
  for (const [name, exchange] of ways) {
    await t.test(name, async (t) => {
      const { folder, path, found, contents, replace } = replacement(t)
      const editor = openSync(path, 'r+')
      t.equal(replace(exchange, 'other'), false)
      t.strictSame([readFileSync(path, 'utf8'), contents()], ['old', []])
      t.equal(replace(exchange), true)
      t.equal(readFileSync(path, 'utf8'), 'new')
      t.strictSame(contents(), ['old'])
      t.equal(found[0], join(folder, 'kept', 'link'), 'by a name, for the case of a crash')
      writeSync(editor, 'mine')
      closeSync(editor)
      t.strictSame(contents(), ['mine'], 'and what is written into it later is seen')
      t.strictSame(readdirSync(folder).sort(), ['case.md', 'kept'])
    })
    await t.test(`${name}, where no name can be given`, async (t) => {
      const { folder, path, found, contents, replace } = replacement(t, 'missing')
      const editor = openSync(path, 'r+')
      t.equal(replace(exchange), true)
      writeSync(editor, 'mine')
      closeSync(editor)
      t.type(found[0], 'number')
      t.strictSame(contents(), ['mine'])
      t.strictSame(readdirSync(folder).sort(), ['case.md', 'kept'])
    })
  }
})

/** As `exchange`, but for one call, which fails after what it does. */
function failing(exchange: Exchange, code: string, at: number): Exchange {
  let call = 0
  return (a, b) => {
    if (call++ === at) {
      rmSync(b)
      throw Object.assign(new Error(code), { code })
    }
    exchange(a, b)
  }
}

t.test('a save by a rename between the last look and the replacement', async (t) => {
  const save = (path: string) => saveByRename(path, 'mine')
  const link = (path: string) => {
    rmSync(path)
    symlinkSync('elsewhere', path)
  }
  /** What happens to `path` right before the first exchanges. */
  const disturbed = (path: string, ...acts: ((path: string) => void)[]): Exchange => {
    return (a, b) => {
      acts.shift()?.(path)
      stepwise(a, b)
    }
  }
  const isMine = (t: Test, it: ReturnType<typeof replacement>, displaced: string[] = []) => {
    t.equal(readFileSync(it.path, 'utf8'), 'mine')
    t.strictSame(it.contents(), displaced)
    t.strictSame(readdirSync(join(it.folder, 'kept')), [])
  }

  await t.test('goes back to its place by an exchange', async (t) => {
    const it = replacement(t)
    t.equal(it.replace(disturbed(it.path, save)), false)
    isMine(t, it, ['mine', 'new'])
  })

  await t.test('also when it is saved once more in the very moment', async (t) => {
    const it = replacement(t)
    const earlier = (path: string) => writeFileSync(path, 'mine, earlier')
    const first = (path: string) => {
      rmSync(path)
      earlier(path)
    }
    t.equal(it.replace(disturbed(it.path, first, save)), false)
    isMine(t, it, ['mine, earlier', 'mine', 'new'])
  })

  await t.test('or is removed in it', async (t) => {
    const it = replacement(t)
    t.equal(it.replace(failing(disturbed(it.path, save), 'ENOENT', 1)), false)
    isMine(t, it, ['mine', 'new'])
  })

  await t.test('and so does what is no file', async (t) => {
    const { path, contents, replace } = replacement(t)
    t.equal(replace(disturbed(path, link)), false)
    t.equal(readlinkSync(path), 'elsewhere')
    t.strictSame(contents(), ['new'])
  })

  await t.test('is seen by a rename, when the old file was linked already', async (t) => {
    const it = replacement(t)
    before(t, 'linkSync', save)
    t.equal(it.replace(null), false)
    isMine(t, it)
  })

  await t.test('an editor that is not done yet loses nothing either', async (t) => {
    const { path, contents, replace } = replacement(t)
    writeFileSync(`${path}~`, 'mine')
    t.equal(replace(null), true)
    renameSync(`${path}~`, path)
    t.equal(readFileSync(path, 'utf8'), 'mine')
    t.strictSame(contents(), ['old'])
  })

  await t.test('a backup that an editor then deletes is no save', async (t) => {
    const { path, contents, replace } = replacement(t)
    writeFileSync(`${path}~`, 'its backup')
    before(t, 'renameSync', () => rmSync(`${path}~`, { force: true }))
    t.equal(replace(null), true)
    t.strictSame(contents(), ['old'])
  })
})

t.test('an error after the exchange brings the old file back', async (t) => {
  const { folder, path, contents, replace } = replacement(t)
  const fault = Object.assign(new Error('EIO'), { code: 'EIO' })
  const faults = [fault]
  before(t, 'lstatSync', (of) => {
    if (of.endsWith('.tmp') && faults.pop()) throw fault
  })
  t.throws(() => replace(stepwise), { code: 'EIO' })
  t.equal(readFileSync(path, 'utf8'), 'old')
  t.strictSame([contents(), readdirSync(join(folder, 'kept'))], [['old', 'new'], []])
})

t.test('a temporary name that cannot be removed fails no change', async (t) => {
  const { path, contents, replace } = replacement(t)
  before(t, 'unlinkSync', (of) => {
    if (of.endsWith('.tmp')) throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' })
  })
  t.equal(replace(stepwise), true)
  t.strictSame([readFileSync(path, 'utf8'), contents()], ['new', ['old']])
})

t.test('the old file has its other name before it loses the first', async (t) => {
  const { folder, path, replace } = replacement(t)
  const names: string[][] = []
  replace((a, b) => {
    stepwise(a, b)
    names.push(readdirSync(join(folder, 'kept')))
  })
  t.strictSame(
    names,
    [['link']],
    'or else a crash at that moment leaves it only as a temporary file',
  )
  t.equal(readFileSync(path, 'utf8'), 'new')
})

t.test("the system's exchange", async (t) => {
  const exchange = systemExchange()
  if (exchange === null) return t.pass('not there', { skip: 'fs-native-extensions is missing' })
  const folder = t.testdir({ a: 'A', b: 'B' })
  const [a, b, none] = ['a', 'b', 'none'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  exchange(a, b)
  t.strictSame([readFileSync(a, 'utf8'), readFileSync(b, 'utf8')], ['B', 'A'])
  t.throws(() => exchange(a, none), { code: 'ENOENT' })
})

t.test('where the state folder is on another disk, the old file is held open', async (t) => {
  const other = '/dev/shm'
  if (!existsSync(other) || statSync(other).dev === statSync('.').dev) {
    return t.pass('no other disk', { skip: 'no /dev/shm here' })
  }
  const elsewhere = join(other, `casefile-test-${process.pid}`)
  mkdirSync(elsewhere)
  t.teardown(() => rmSync(elsewhere, { recursive: true }))
  const path = join(t.testdir({ 'a.md': 'old' }), 'a.md')
  const found: ReplacedFile[] = []
  const tracker = {
    link: join(elsewhere, 'link'),
    keep: (each: ReplacedFile) => void found.push(each),
  }
  await writeDurable(path, Buffer.from('new'), { expect: Buffer.from('old'), tracker: tracker })
  t.match(found, [Number])
  t.equal(readFileSync(found[0]!, 'utf8'), 'old')
  closeSync(found[0] as number)
  t.strictSame(readdirSync(elsewhere), [])
})

/** A second look with nothing around it, on a case with one file. */
async function lookingAlone(t: Test, files: Record<string, string>) {
  const root = t.testdir({ memory: { cases: { [CASE_ID]: files } }, state: {} })
  const log: string[] = []
  const folder = join(root, 'state')
  const look = createLateSaves({
    layout: layoutOf(root, join(root, 'memory')),
    mutex: createKeyedMutex(),

    folder,
    mayWrite: async () => {},
    now: () => NOW,
    log: (line) => log.push(line),
    onMerged: () => {},
    recheckMs: 250,
  })
  await look.recover()
  const caseFolder = join(root, 'memory/cases', CASE_ID)
  return { look, log, folder, caseFolder }
}

const list = 'ours: 0\n\n- a\n- b\n- c\n'
const withOurs = list.replace('0', '1')
const withMine = `${list}- mine\n`

/** What somebody does while our text stands there for a moment; gives what they do after it. */
type Meanwhile = (path: string) => () => void

const reads =
  (save: (shown: string) => string): Meanwhile =>
  (path) => {
    const shown = readFileSync(path, 'utf8')
    return () => saveByRename(path, save(shown))
  }

const opens =
  (isQuick: boolean): Meanwhile =>
  (path) => {
    const editor = openSync(path, 'a')
    const write = () => {
      writeSync(editor, '- more\n')
      closeSync(editor)
    }
    if (!isQuick) return write
    write()
    return () => {}
  }

const mineAndMore = `${withMine.replace('- a', '- A')}- more\n`
const moments: [name: string, meanwhile: Meanwhile, text: string, copies: string[]][] = [
  ['nothing', () => () => {}, withMine, []],
  ['more is saved on mine', reads(() => mineAndMore), mineAndMore, []],
  ['it is read, and more added', reads((it) => `${it}- more\n`), `${withOurs}- more\n`, [withMine]],
  [
    'it is read, and changed elsewhere',
    reads((it) => it.replace('- a', '- A')),
    `${withOurs.replace('- a', '- A')}- mine\n`,
    [],
  ],
  ['it is opened, and written later', opens(false), withMine, [`${withOurs}- more\n`]],
  ['it is opened and written', opens(true), withMine, [`${withOurs}- more\n`]],
]

t.test('a save that gave way to ours for a moment, and what comes over it then', async (t) => {
  const fileOf = (index: number) => `moment-${index}.md`
  const files = Object.fromEntries(moments.map((_, index) => [fileOf(index), list]))
  const { look, folder, caseFolder, log } = await lookingAlone(t, files)
  for (const [index, [, meanwhile]] of moments.entries()) {
    const [file, path] = [fileOf(index), join(caseFolder, fileOf(index))]
    const tracker = look.trackerFor({ id: CASE_ID, file }, Buffer.from(list))
    const after = interrupted(path, tracker, meanwhile)
    t.equal(readFileSync(path, 'utf8'), withMine)
    after()
  }
  await look.idle()
  const inFolder = (name: string) => readFileSync(join(caseFolder, name), 'utf8')
  const copies = readdirSync(caseFolder).filter(isConflictCopy)
  for (const [index, [name, , text, expected]] of moments.entries()) {
    const own = copies.filter((copy) => copy.startsWith(`moment-${index}.`))
    t.strictSame([inFolder(fileOf(index)), own.map(inFolder)], [text, expected], name)
  }
  t.equal(log.length, 4, 'and nothing else is told')
  t.strictSame(readdirSync(folder), [])
})

/** Tries to place our text right when somebody has saved theirs; gives what is to be done after it. */
function interrupted(path: string, tracker: ReplacedFileTracker, meanwhile: Meanwhile): () => void {
  const temp = `${path}.tmp`
  writeFileSync(temp, withOurs)
  let after: (() => void) | undefined
  let call = 0
  const exchange: Exchange = (a, b) => {
    if (call === 0) saveByRename(path, withMine)
    if (call === 1) after = meanwhile(path)
    call++
    stepwise(a, b)
  }
  replaceSeen(opened(temp), path, Buffer.from(list), tracker, { exchange })
  rmSync(temp)
  return after!
}

function saveByRename(path: string, text: string): void {
  writeFileSync(`${path}~`, text)
  renameSync(`${path}~`, path)
}
