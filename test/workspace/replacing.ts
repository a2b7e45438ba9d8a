// A replacement hands over the file that it replaces, whatever comes between the last look at it and the new name.
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readDescriptor } from '../../src/files/descriptors.ts'
import { createKeyedMutex } from '../../src/files/keyed-mutex.ts'
import { type ReplacedFileTracker, replaceSeen } from '../../src/files/replace-seen.ts'
import { isConflictCopy } from '../../src/model/conflict-copy.ts'
import { type Exchange, systemExchange } from '../../src/platform/exchange.ts'
import { createLateSaves } from '../../src/workspace/late-saves/late-saves.ts'
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

const TEMP = '.casefile-1-0123456789ab.tmp'

/** A file `case.md` to be replaced, and what a tracker is given meanwhile. */
function replacement(t: Test) {
  const folder = t.testdir({ 'case.md': 'old', [TEMP]: 'new' })
  const path = join(folder, 'case.md')
  const found: [fd: number, isSave: boolean][] = []
  t.teardown(() => {
    for (const [fd] of found) closeSync(fd)
  })
  return {
    path,
    names: () => readdirSync(folder).sort(),
    /** What is handed over, and whether as a save. */
    replaced: () =>
      found.map(([fd, isSave]) => {
        const bytes = readDescriptor({ fd, stats: fstatSync(fd) }, 100)
        return [String(bytes), isSave]
      }),
    replace: (exchange: Exchange | null, expect = 'old') =>
      replaceSeen(
        join(folder, TEMP),
        path,
        Buffer.from(expect),
        (...given) => void found.push(given),
        { exchange },
      ),
  }
}

const ways: [string, Exchange | null][] = [
  ['by an exchange', stepwise],
  ['by a rename', null],
  ['by a rename, as the disk cannot exchange', notSupported],
]

t.test('a replacement hands over what it replaced', async (t) => {
  for (const [name, exchange] of ways) {
    await t.test(name, async (t) => {
      const { path, names, replaced, replace } = replacement(t)
      const editor = openSync(path, 'r+')
      t.equal(replace(exchange, 'other'), false)
      t.strictSame([readFileSync(path, 'utf8'), replaced()], ['old', []])
      t.equal(replace(exchange), true)
      t.equal(readFileSync(path, 'utf8'), 'new')
      t.strictSame(replaced(), [['old', false]])
      writeSync(editor, 'mine')
      closeSync(editor)
      t.strictSame(replaced(), [['mine', false]], 'and what is written into it later is seen')
      t.strictSame(names(), ['case.md'])
    })
  }
})

t.test('a save by a rename between the last look and the replacement', async (t) => {
  /** What happens to `path` right before the exchange. */
  const disturbed = (act: (path: string) => void): Exchange => {
    return (a, b) => {
      act(b)
      act = () => {}
      stepwise(a, b)
    }
  }

  await t.test('is handed over too, as a save', async (t) => {
    const { path, names, replaced, replace } = replacement(t)
    t.equal(replace(disturbed((path) => saveByRename(path, 'mine'))), true)
    t.equal(readFileSync(path, 'utf8'), 'new')
    t.strictSame(replaced(), [
      ['old', false],
      ['mine', true],
    ])
    t.strictSame(names(), ['case.md'])
  })

  await t.test('and what is no file goes back to its place', async (t) => {
    const { path, replaced, replace } = replacement(t)
    const link = (path: string) => {
      rmSync(path)
      symlinkSync('elsewhere', path)
    }
    t.equal(replace(disturbed(link)), false)
    t.equal(readlinkSync(path), 'elsewhere')
    t.strictSame(replaced(), [])
  })

  await t.test('a file that is removed stays so', async (t) => {
    const { names, replaced, replace } = replacement(t)
    const gone: Exchange = (_, path) => {
      rmSync(path)
      throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
    }
    t.equal(replace(gone), false)
    t.strictSame([names(), replaced()], [[TEMP], []])
  })

  await t.test('is seen by a rename until its last moment', async (t) => {
    const { path, replaced, replace } = replacement(t)
    let looks = 0
    before(t, 'lstatSync', (of) => {
      if (of === path && looks++ === 0) saveByRename(path, 'mine')
    })
    t.equal(replace(null), false)
    t.strictSame([readFileSync(path, 'utf8'), replaced()], ['mine', []])
  })

  await t.test('an editor that is not done yet loses nothing either', async (t) => {
    const { path, replaced, replace } = replacement(t)
    writeFileSync(`${path}~`, 'mine')
    t.equal(replace(null), true)
    renameSync(`${path}~`, path)
    t.equal(readFileSync(path, 'utf8'), 'mine')
    t.strictSame(replaced(), [['old', false]])
  })
})

t.test('an error after the exchange brings the old file back', async (t) => {
  const { path, replaced, replace } = replacement(t)
  const fault = Object.assign(new Error('EIO'), { code: 'EIO' })
  before(t, 'lstatSync', (of) => {
    if (of.endsWith('.tmp')) throw fault
  })
  t.throws(() => replace(stepwise), { code: 'EIO' })
  t.equal(readFileSync(path, 'utf8'), 'old')
  t.strictSame(replaced(), [])
})

t.test('a temporary name that cannot be removed fails no change', async (t) => {
  const { path, replaced, replace } = replacement(t)
  before(t, 'unlinkSync', (of) => {
    if (of.endsWith('.tmp')) throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' })
  })
  t.equal(replace(stepwise), true)
  t.strictSame([readFileSync(path, 'utf8'), replaced()], ['new', [['old', false]]])
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

const list = 'ours: 0\n\n- a\n- b\n- c\n'
const withOurs = list.replace('0', '1')
const withMine = `${list}- mine\n`

/** What somebody does to the file that has just replaced their save; gives what they do after it. */
type Meanwhile = (path: string) => () => void

const reads =
  (save: (shown: string) => string): Meanwhile =>
  (path) => {
    const shown = readFileSync(path, 'utf8')
    return () => saveByRename(path, save(shown))
  }

const opens: Meanwhile = (path) => {
  const editor = openSync(path, 'a')
  return () => {
    writeSync(editor, '- more\n')
    closeSync(editor)
  }
}

const both = `${withOurs}- mine\n`
const mineAndMore = `${withMine.replace('- a', '- A')}- more\n`
const moments: [name: string, meanwhile: Meanwhile, text: string, copies: string[]][] = [
  ['nothing', () => () => {}, both, []],
  ['more is saved on mine', (path) => () => saveByRename(path, mineAndMore), mineAndMore, []],
  ['it is read, and more added', reads((it) => `${it}- more\n`), `${withOurs}- more\n`, [withMine]],
  [
    'it is read, and changed elsewhere',
    reads((it) => it.replace('- a', '- A')),
    both.replace('- a', '- A'),
    [],
  ],
  ['it is opened, and written', opens, `${withOurs}- more\n`, [withMine]],
]

t.test('a save that a write replaced is merged, whatever comes over it then', async (t) => {
  const fileOf = (index: number) => `moment-${index}.md`
  const files = Object.fromEntries(moments.map((_, index) => [fileOf(index), list]))
  const root = t.testdir({ memory: { cases: { [CASE_ID]: files } } })
  const log: string[] = []
  const lateSaves = createLateSaves({
    layout: layoutOf(root, join(root, 'memory')),
    mutex: createKeyedMutex(),
    mayWrite: async () => {},
    now: () => NOW,
    log: (line) => log.push(line),
    onMerged: () => {},
    recheckMs: 250,
  })
  const caseFolder = realpathSync(join(root, 'memory/cases', CASE_ID))
  for (const [index, [, meanwhile]] of moments.entries()) {
    const [file, path] = [fileOf(index), join(caseFolder, fileOf(index))]
    const tracker = lateSaves.trackerFor({ id: CASE_ID, file }, Buffer.from(list))
    const after = saveIsReplaced(path, tracker, meanwhile)
    t.equal(readFileSync(path, 'utf8'), withOurs)
    after()
  }
  await lateSaves.idle()
  const inFolder = (name: string) => readFileSync(join(caseFolder, name), 'utf8')
  const copies = readdirSync(caseFolder).filter(isConflictCopy)
  for (const [index, [name, , text, expected]] of moments.entries()) {
    const own = copies.filter((copy) => copy.startsWith(`moment-${index}.`))
    t.strictSame([inFolder(fileOf(index)), own.map(inFolder)], [text, expected], name)
  }
  t.equal(log.length, 4, 'and nothing else is logged')
})

/** Places our text right when somebody has saved theirs; gives what is to be done after it. */
function saveIsReplaced(
  path: string,
  tracker: ReplacedFileTracker,
  meanwhile: Meanwhile,
): () => void {
  const temp = `${path}.tmp`
  writeFileSync(temp, withOurs)
  const exchange: Exchange = (a, b) => {
    saveByRename(path, withMine)
    stepwise(a, b)
  }
  replaceSeen(temp, path, Buffer.from(list), tracker, { exchange })
  return meanwhile(path)
}

function saveByRename(path: string, text: string): void {
  writeFileSync(`${path}~`, text)
  renameSync(`${path}~`, path)
}
