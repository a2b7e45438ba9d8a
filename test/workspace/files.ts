import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import fsNow, { type Stats } from 'node:fs'
import fs, {
  chmod,
  type FileHandle,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openToAppend, syncAppended } from '../../src/files/append-file.ts'
import { createDurable, makeFolder, writeDurable } from '../../src/files/durable-write.ts'
import { createKeyedMutex } from '../../src/files/keyed-mutex.ts'
import { writeNewFile } from '../../src/files/new-file.ts'
import { readNow } from '../../src/files/read-now.ts'
import { realPathOf } from '../../src/files/real-path.ts'
import { emptyTrash, removeFolder } from '../../src/files/remove-folder.ts'
import { removeStubborn } from '../../src/files/remove-stubborn.ts'
import { decodeUtf8, readRegular, sameStamp, stampOf } from '../../src/files/safe-read.ts'
import { stageChange, stageNew } from '../../src/files/staged-file.ts'
import { isTempName, removeTempFiles, tempName, trashName } from '../../src/files/temp-files.ts'
import { openRunFolder } from '../../src/runners/output/run-folder.ts'
import { workingFolder } from '../../src/settings/workdir.ts'
import { defaultStateFolder, openStateFolder } from '../../src/state/state-folder.ts'
import { setLatest } from '../../src/workspace/latest-link.ts'
import { layoutOf } from '../../src/workspace/layout.ts'
import { clearLeftovers } from '../../src/workspace/leftovers.ts'
import { nextSessionNumber } from '../../src/workspace/session-number.ts'
import { makeTooDeep } from '../fixtures/deep-folder.ts'
import { onFolderSync, replaceCall } from '../fixtures/disk-calls.ts'
import { isFull } from '../fixtures/full.ts'
import { CASE_ID } from '../fixtures/records.ts'

const run = promisify(execFile)
const SWAPS = isFull ? 10_000 : 100
const asRoot = process.getuid?.() === 0
const bytes = (text: string) => Buffer.from(text)
const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8)

/** Runs `body` in a small tmpfs mounted at `folder`, or skips with the reason why there is none. */
async function inTmpfs(t: Test, folder: string, body: () => Promise<void>): Promise<void> {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder])
  } catch (error) {
    t.comment(String(error))
    t.pass('no tmpfs can be mounted here', { skip: 'mounting needs root' })
    return
  }
  try {
    await body()
  } finally {
    await run('umount', [folder])
  }
}

t.test('a durable write', async (t) => {
  await t.test('keeps the mode of what it replaces', async (t) => {
    const folder = t.testdir({ 'a.md': 'old' })
    const path = join(folder, 'a.md')
    for (const mode of [0o600, 0o644, 0o755]) {
      await chmod(path, mode)
      await writeDurable(path, bytes(`new ${mode}`))
      t.equal(await modeOf(path), mode.toString(8))
      t.equal(await readFile(path, 'utf8'), `new ${mode}`)
    }
    await writeDurable(path, bytes(''), { mode: 0o640 })
    t.equal(await modeOf(path), '640')
    t.equal((await stat(path)).size, 0)
    const created = join(folder, 'b.md')
    await writeDurable(created, bytes('b'))
    t.equal(await modeOf(created), (0o666 & ~process.umask()).toString(8))
    t.same((await readdir(folder)).sort(), ['a.md', 'b.md'], 'and leaves no temporary file')
  })

  await t.test(
    'leaves the file to its owner',
    { skip: asRoot ? false : 'only root can write the files of others' },
    async (t) => {
      const path = join(t.testdir({ 'a.md': 'old' }), 'a.md')
      execFileSync('chown', ['12345:12345', path])
      await writeDurable(path, bytes('new'))
      t.match(await stat(path), { uid: 12345, gid: 12345 })
    },
  )

  await t.test('goes through only while the file is as expected', async (t) => {
    const folder = t.testdir({ 'a.md': 'seen', folder: {} })
    const path = join(folder, 'a.md')
    await writeDurable(path, bytes('second'), { expect: bytes('seen') })
    for (const expect of [bytes('seen'), bytes('secone'), bytes('second and more'), null]) {
      await t.rejects(writeDurable(path, bytes('third'), { expect }), { code: 'changed_meanwhile' })
    }
    t.equal(await readFile(path, 'utf8'), 'second')
    const gone = writeDurable(join(folder, 'gone.md'), bytes('x'), { expect: bytes('y') })
    await t.rejects(gone, { code: 'changed_meanwhile' })
    await writeDurable(join(folder, 'fresh.md'), bytes('x'), { expect: null })
    t.same((await readdir(folder)).sort(), ['a.md', 'folder', 'fresh.md'])
  })

  await t.test('never writes into the file that stands there', async (t) => {
    const folder = t.testdir({})
    const tracker = (fd: number) => fsNow.closeSync(fd)
    const ways = { blindly: {}, expecting: { expect: bytes('old') } }
    for (const [name, options] of Object.entries({
      ...ways,
      keeping: { expect: bytes('old'), tracker },
    })) {
      const path = join(folder, `${name}.md`)
      await writeFile(path, 'old')
      await link(path, `${path}.other`)
      await writeDurable(path, bytes('new'), options)
      t.equal(await readFile(`${path}.other`, 'utf8'), 'old', name)
      t.equal(await readFile(path, 'utf8'), 'new')
    }
  })

  await t.test('a change is of the file itself, and of nothing that a link names', async (t) => {
    const folder = await realPathOf(t.testdir({ outside: 'theirs', case: {} }))
    await symlink('../outside', join(folder, 'case', 'case.md'))
    const change = stageChange(
      join(folder, 'case', 'case.md'),
      {
        maxBytes: 100,
        within: join(folder, 'case'),
        trackerFor: () => (fd) => fsNow.closeSync(fd),
      },
      async () => bytes('ours'),
    )
    await t.rejects(change, { code: 'changed_meanwhile' })
    t.equal(await readFile(join(folder, 'outside'), 'utf8'), 'theirs')
  })

  await t.test('stays in its folder, whatever takes the place of that', async (t) => {
    const dir = await realPathOf(t.testdir({ outside: {}, case: { sessions: {} } }))
    const within = join(dir, 'case')
    const sessions = join(within, 'sessions')
    const staged = await stageNew(join(sessions, '1.md'), bytes('ours'), { within })
    await rename(sessions, join(within, 'away'))
    await symlink('../outside', sessions)
    await staged.place()
    await staged.close()
    t.same(await readdir(join(within, 'away')), ['1.md'])
    for (const write of [createDurable, writeDurable]) {
      const refused = write(join(sessions, '2.md'), bytes('x'), { within })
      await t.rejects(refused, { code: 'changed_meanwhile' })
    }
    t.same(await readdir(join(dir, 'outside')), [])
  })

  await t.test('a file that is staged and not placed leaves nothing', async (t) => {
    const folder = await realPathOf(t.testdir({ 'a.md': 'old' }))
    const path = join(folder, 'a.md')
    const trackerFor = () => (fd: number) => fsNow.closeSync(fd)
    const options = { maxBytes: 100, within: folder, trackerFor }
    const first = await stageChange(path, options, async () => bytes('first'))
    const second = await stageChange(path, options, async () => bytes('second'))
    t.equal((await readdir(folder)).length, 3)
    await first.place()
    await t.rejects(second.place(), { code: 'changed_meanwhile' }, 'it was made of another')
    const third = await stageNew(join(folder, 'b.md'), bytes('third'), { within: folder })
    for (const each of [first, second, third]) await each.close()
    t.same((await readdir(folder)).sort(), ['a.md'])
    t.equal(await readFile(path, 'utf8'), 'first')
  })

  await t.test('refuses what is no regular file', async (t) => {
    const folder = t.testdir({ 'v1.md': 'first', folder: {} })
    await symlink('v1.md', join(folder, 'latest.md'))
    await symlink('nowhere', join(folder, 'dangling.md'))
    await run('mkfifo', [join(folder, 'fifo.md')])
    const names = await readdir(folder)
    for (const name of ['latest.md', 'dangling.md', 'folder', 'fifo.md']) {
      const write = writeDurable(join(folder, name), bytes('x'))
      await t.rejects(write, { code: 'unreadable_file', message: new RegExp(`^${name} is `) }, name)
      await t.rejects(createDurable(join(folder, name), bytes('x')), { code: 'already_exists' })
    }
    t.equal(await readFile(join(folder, 'v1.md'), 'utf8'), 'first')
    t.same(await readdir(folder), names)
  })

  await t.test('creates a file once, whole', async (t) => {
    const folder = t.testdir({})
    const path = join(folder, 'new.md')
    const results = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((letter) => createDurable(path, bytes(letter.repeat(9000)))),
    )
    t.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
    const text = await readFile(path, 'utf8')
    t.equal(text, text.charAt(0).repeat(9000))
    t.equal((await stat(path)).nlink, 1)
    await createDurable(join(folder, 'secret'), bytes('s'), { mode: 0o600 })
    t.equal(await modeOf(join(folder, 'secret')), '600')
    t.same((await readdir(folder)).sort(), ['new.md', 'secret'])
  })

  await t.test('on a full disk keeps the old bytes and leaves nothing behind', async (t) => {
    const folder = t.testdir({})
    await inTmpfs(t, folder, async () => {
      const path = join(folder, 'a.md')
      const old = Buffer.alloc(15_000, 'o')
      await writeDurable(path, old)
      const full = { code: 'storage_full', cause: { code: 'ENOSPC' } }
      for (let round = 0; round < 5; round += 1) {
        const error = await writeDurable(path, Buffer.alloc(60_000, 'n')).then(
          () => null,
          (error) => error,
        )
        const whole = (await readFile(path)).equals(old)
        if (error?.code !== 'storage_full' || !whole) t.fail(`round ${round}: ${error}`)
      }
      await t.rejects(writeDurable(path, Buffer.alloc(60_000)), full)
      await t.rejects(createDurable(join(folder, 'b.md'), Buffer.alloc(60_000)), full)
      const message = /^The change to b\.md was not saved: the storage is full \(ENOSPC\)\. [^/]*$/
      await t.rejects(createDurable(join(folder, 'b.md'), Buffer.alloc(60_000)), { message })
      t.same(await readdir(folder), ['a.md'])
    })
  })

  await t.test('on a read-only file system says so', async (t) => {
    const folder = t.testdir({})
    await inTmpfs(t, folder, async () => {
      await writeFile(join(folder, 'a.md'), 'old')
      await run('mount', ['-o', 'remount,ro', folder])
      const refusal = { code: 'storage_failed', cause: { code: 'EROFS' } }
      await t.rejects(writeDurable(join(folder, 'a.md'), bytes('new')), refusal)
      await t.rejects(createDurable(join(folder, 'b.md'), bytes('new')), refusal)
      await t.rejects(makeFolder(join(folder, 'c')), refusal)
    })
  })

  await t.test('makes folders, but not over a file', async (t) => {
    const folder = t.testdir({ file: 'x' })
    await makeFolder(join(folder, 'a', 'b', 'c'))
    await makeFolder(join(folder, 'a', 'b', 'c'))
    t.ok((await stat(join(folder, 'a/b/c'))).isDirectory())
    await t.rejects(makeFolder(join(folder, 'file')), { code: 'unreadable_file' })
    await t.rejects(makeFolder(join(folder, 'file', 'x')), { code: 'unreadable_file' })
    await symlink('nowhere', join(folder, 'dangling'))
    await t.rejects(makeFolder(join(folder, 'dangling', 'x')), { code: 'unreadable_file' })
    await makeFolder('/')
  })
})

t.test('reading a file that anybody may have put there', async (t) => {
  const root = t.testdir({
    inside: { 'good.md': 'good', folder: {}, 'big.md': 'x'.repeat(101) },
    outside: { 'secret.md': 'secret' },
  })
  const inside = join(root, 'inside')
  const at = (name: string) => join(inside, name)
  await symlink('good.md', at('link.md'))
  await symlink('nowhere.md', at('dangling.md'))
  await symlink('loop.md', at('loop.md'))
  await symlink('../outside', at('escape'))
  await symlink('../outside/secret.md', at('leak.md'))
  await run('mkfifo', [at('fifo.md')])
  await writeFile(at('sparse.md'), '')
  await truncate(at('sparse.md'), 2 * 1024 ** 3)
  await writeFile(at('closed.md'), 'closed')
  await chmod(at('closed.md'), 0)
  // Through a short name: a socket's path of more than 107 bytes is cut without a word.
  const short = join(tmpdir(), `casefile-test-${process.pid}`)
  await symlink(inside, short)
  const server = createServer().listen(join(short, 'socket.md'))
  await once(server, 'listening')
  await rm(short)
  t.teardown(() => server.close())

  const cases: [string, string][] = [
    ['missing.md', 'missing'],
    ['good.md/below.md', 'missing'],
    [`${'n'.repeat(300)}.md`, 'missing'],
    ['link.md', 'symbolic_link'],
    ['dangling.md', 'symbolic_link'],
    ['loop.md', 'symbolic_link'],
    ['folder', 'not_a_file'],
    ['fifo.md', 'not_a_file'],
    ['socket.md', 'not_a_file'],
    ['sparse.md', 'too_large'],
    ['big.md', 'too_large'],
    ['closed.md', 'no_permission'],
  ]
  const start = performance.now()
  for (const [name, reason] of cases) {
    const skip = reason === 'no_permission' && asRoot ? 'root may read every file' : false
    await t.test(`${name.slice(0, 20)} is ${reason}`, { skip }, async (t) => {
      t.match(await readRegular(at(name), { maxBytes: 100 }), { ok: false, reason })
    })
  }
  t.ok(performance.now() - start < 5000, 'nothing is waited for')

  await t.test('within a folder', async (t) => {
    const within = inside
    const read = (name: string) => readRegular(at(name), { maxBytes: 100, within })
    t.match(await read('good.md'), { ok: true })
    t.match(await read('link.md'), { ok: false, reason: 'symbolic_link' })
    for (const name of ['escape/secret.md', '../outside/secret.md']) {
      t.match(await read(name), { ok: false, reason: 'symbolic_link' }, name)
    }
    const now = (name: string) => readNow(at(name), 100, within)
    t.match(now('good.md'), { ok: true })
    for (const name of ['link.md', 'escape/secret.md', '../outside/secret.md']) {
      t.match(now(name), { ok: false, reason: 'symbolic_link' }, `${name}, at once`)
    }
  })

  await t.test('goes on where a read gives few bytes, up to the limit', async (t) => {
    const { open } = fs
    const { readSync } = fsNow
    let most = 3
    let meanwhile = () => {}
    const inBits = (read: (into: Uint8Array, from: number, bytes: number) => unknown) => {
      return (into: Uint8Array, from: number, bytes: number) => {
        meanwhile()
        return read(into, from, Math.min(bytes, most))
      }
    }
    fs.open = async (...given) => {
      const handle = await open(...given)
      const read = handle.read.bind(handle) as FileHandle['read']
      return Object.assign(handle, {
        read: inBits((into, from, bytes) => read(into, from, bytes, null)),
      })
    }
    fsNow.readSync = ((file: number, ...rest: [Uint8Array, number, number, number]) =>
      inBits((into, from, bytes) => readSync(file, into, from, bytes, rest[3]))(
        ...(rest.slice(0, 3) as [Uint8Array, number, number]),
      )) as typeof readSync
    syncBuiltinESMExports()
    t.teardown(() => {
      Object.assign(fs, { open })
      Object.assign(fsNow, { readSync })
      syncBuiltinESMExports()
    })
    const ways = {
      'in turn': (path: string) => readRegular(path, { maxBytes: 10 }),
      'at once': async (path: string) => readNow(path, 10, inside),
    }
    for (const [way, read] of Object.entries(ways)) {
      const path = at(`bits ${way}.md`)
      await writeFile(path, '12345678')
      most = 3
      const short = await read(path)
      t.equal(short.ok && short.bytes.toString(), '12345678', `${way}: short reads`)
      most = Infinity
      const growsBy = (more: string) => {
        meanwhile = () => {
          meanwhile = () => {}
          fsNow.appendFileSync(path, more)
        }
      }
      growsBy('90')
      const grown = await read(path)
      t.equal(grown.ok && grown.bytes.toString(), '1234567890', `${way}: grown to the limit`)
      growsBy('+')
      t.match(await read(path), { ok: false, reason: 'too_large' }, `${way}: grown past it`)
    }
  })

  await t.test('gives the bytes and a stamp that tells a change', async (t) => {
    const read = await readRegular(at('good.md'), { maxBytes: 4 })
    if (!read.ok) return t.fail(read.reason)
    t.equal(read.bytes.toString(), 'good')
    const before = await stampOf(at('good.md'))
    t.ok(before && sameStamp(read.stat, before))
    await writeFile(at('good.md'), 'evil')
    const after = await stampOf(at('good.md'))
    t.notOk(after && sameStamp(read.stat, after))
    t.equal(await stampOf(at('missing.md')), null)
    t.equal(await stampOf(at('good.md/below.md')), null)
  })

  await t.test('a device is no file', async (t) => {
    t.match(await readRegular('/dev/zero', { maxBytes: 9 }), { ok: false, reason: 'not_a_file' })
  })

  await t.test('a mistake of the caller is thrown', async (t) => {
    await t.rejects(readRegular('a\0b', { maxBytes: 9 }), { code: 'ERR_INVALID_ARG_VALUE' })
  })
})

t.test('UTF-8', async (t) => {
  const cases: [string, number[], object][] = [
    ['keeps a BOM', [0xef, 0xbb, 0xbf, 0x61], { ok: true, text: '\ufeffa' }],
    ['keeps CRLF', [0x61, 0x0d, 0x0a], { ok: true, text: 'a\r\n' }],
    ['may be empty', [], { ok: true, text: '' }],
    ['is not Latin-1', [0x61, 0x0a, 0x62, 0xe4, 0x62], { ok: false, line: 2, offset: 3 }],
    ['is not UTF-16', [0xff, 0xfe, 0x61, 0x00], { ok: false, line: 1, offset: 0 }],
    ['has no cut sequence', [0xc3, 0xa4, 0xe2, 0x82], { ok: false, line: 1, offset: 2 }],
    ['has no lone surrogate', [0x0a, 0xed, 0xa0, 0x80], { ok: false, line: 2, offset: 1 }],
    [
      'has no cut sequence before a line feed',
      [0xe2, 0x0a, 0x61],
      { ok: false, line: 1, offset: 0 },
    ],
  ]
  for (const [name, input, expected] of cases) {
    t.same(decodeUtf8(Uint8Array.from(input)), expected, name)
  }
})

t.test('left-over temporary files are removed, and nothing else', async (t) => {
  const folder = t.testdir({ 'case.md': '', '.casefile-x.tmp': '', '.casefile-1-abc.tmp': '' })
  const target = join(folder, 'case.md')
  const kept = tempName(target)
  await writeFile(tempName(target), 'half')
  await symlink('1.md', tempName(target))
  await mkdir(kept)
  await symlink(folder, join(folder, 'elsewhere'))
  await mkdir(join(folder, 'sub'))
  await writeFile(tempName(join(folder, 'sub', 'a.md')), 'half')
  t.ok(isTempName(kept.slice(folder.length + 1)))
  t.notOk(isTempName('.casefile-1-0123456789ab.tmp.md'))
  const folders = [join(folder, 'elsewhere'), folder, join(folder, 'sub'), join(folder, 'missing')]
  t.equal(await removeTempFiles([...folders, target]), 3)
  t.same(
    (await readdir(folder)).sort(),
    ['.casefile-1-abc.tmp', '.casefile-x.tmp', 'case.md', 'elsewhere', 'sub']
      .concat(kept.slice(folder.length + 1))
      .sort(),
  )
})

t.test('a new file is closed until it has its owner and its mode', async (t) => {
  const folder = t.testdir({ 'old.md': 'theirs' })
  const stats = await lstat(join(folder, 'old.md'))
  const modes: unknown[] = []
  const { openSync } = fsNow
  t.teardown(replaced('openSync', openSync))
  replaced('openSync', (path, flags, mode) => {
    modes.push(mode)
    return openSync(path, flags, mode)
  })
  const likes: [name: string, like: Partial<Stats>, first: number][] = [
    ['as it is, where it is ours and its group decides nothing', { mode: 0o100644 }, 0o644],
    ['for its owner alone, where its group may more', { mode: 0o100660 }, 0o600],
    ['for its owner alone, where it is somebody else’s', { mode: 0o100644, uid: 4711 }, 0o600],
  ]
  for (const [n, [name, like, first]] of likes.entries()) {
    const path = join(folder, `${n}.md`)
    await writeNewFile(path, Buffer.from('x'), { like: Object.assign(Object.create(stats), like) })
    t.equal(modes.at(-1), first, name)
    t.equal((await lstat(path)).mode, like.mode, 'and then its mode')
  }
})

/** Puts a function in place of one of node:fs, for every module; gives what puts it there once more. */
function replaced<K extends 'symlinkSync' | 'openSync'>(
  name: K,
  by: (typeof fsNow)[K],
): () => void {
  const put = () => {
    fsNow[name] = by
    syncBuiltinESMExports()
  }
  put()
  return put
}

const NOW = '2026-11-29T10:00:00.000Z'

t.test('latest.md', async (t) => {
  await t.test('is never missing while it is swapped', async (t) => {
    const folder = t.testdir({ '1.md': 'one', '2.md': 'two' })
    const latest = join(folder, 'latest.md')
    await setLatest(folder, 1, NOW)
    let swapping = true
    const readers = Array.from({ length: 4 }, async () => {
      let reads = 0
      for (; swapping; reads += 1) {
        if (!['one', 'two'].includes(await readFile(latest, 'utf8'))) t.fail('wrong bytes')
        if (!(await lstat(latest)).isSymbolicLink()) t.fail('not a link')
      }
      return reads
    })
    for (let swap = 0; swap < SWAPS; swap += 1) await setLatest(folder, (swap % 2) + 1, NOW)
    swapping = false
    for (const reads of await Promise.all(readers)) t.ok(reads > 0)
    t.same((await readdir(folder)).sort(), ['1.md', '2.md', 'latest.md'])
  })

  await t.test('a folder that is a link is not followed', async (t) => {
    const folder = t.testdir({ case: {}, outside: { '1.md': 'theirs' } })
    await symlink(join(folder, 'outside'), join(folder, 'case', 'sessions'))
    const pointing = setLatest(join(folder, 'case', 'sessions'), 1, NOW)
    await t.rejects(pointing, { code: 'changed_meanwhile', message: /leads out of/ })
    t.same(await readdir(join(folder, 'outside')), ['1.md'])
  })

  await t.test('what an editor puts there in the last moment stays', async (t) => {
    const folder = t.testdir({ '1.md': 'one' })
    const latest = join(folder, 'latest.md')
    await setLatest(folder, 1, NOW)
    const { symlinkSync } = fsNow
    t.teardown(replaced('symlinkSync', symlinkSync))
    replaced('symlinkSync', (...given) => {
      symlinkSync(...given)
      fsNow.unlinkSync(latest)
      fsNow.writeFileSync(latest, 'an editor')
    })
    t.notOk(await setLatest(folder, 2, NOW))
    t.equal(await readFile(latest, 'utf8'), 'an editor')
    t.same((await readdir(folder)).sort(), ['1.md', 'latest.md'])
  })

  await t.test('is left alone when it is right, or a folder; a file becomes a copy', async (t) => {
    const folder = t.testdir({
      file: { 'latest.md': 'an editor' },
      folder: { 'latest.md': {} },
      link: {},
    })
    const link = join(folder, 'link')
    t.ok(await setLatest(link, 12, NOW))
    t.equal(await readlink(join(link, 'latest.md')), '12.md')
    t.notOk(await setLatest(link, 12, NOW))
    t.notOk(await setLatest(join(folder, 'folder'), 1, NOW))
    t.same(await readdir(join(folder, 'folder')), ['latest.md'])
    t.ok(await setLatest(join(folder, 'file'), 1, NOW))
    const [copy = '', latest] = (await readdir(join(folder, 'file'))).sort()
    t.equal(latest, 'latest.md')
    t.equal(await readFile(join(folder, 'file', copy), 'utf8'), 'an editor')
  })
})

t.test('the keyed mutex', async (t) => {
  await t.test('runs one key in order and others beside it', async (t) => {
    const mutex = createKeyedMutex()
    const log: string[] = []
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const first = mutex.run('a', async () => {
      await gate
      log.push('a1')
      return 'result'
    })
    const failing = mutex.run('a', () => {
      log.push('a2')
      throw new Error('broken')
    })
    const last = mutex.run('a', async () => log.push('a3'))
    await mutex.run('b', () => log.push('b1'))
    open()
    t.equal(await first, 'result')
    await t.rejects(failing, { message: 'broken' })
    await last
    t.same(log, ['b1', 'a1', 'a2', 'a3'])
  })

  await t.test('is idle when nothing runs or waits', async (t) => {
    const mutex = createKeyedMutex()
    await mutex.idle()
    const log: string[] = []
    mutex.run('a', async () => {
      log.push('first')
      mutex.run('b', () => log.push('started by the first'))
    })
    await mutex.idle()
    t.same(log, ['first', 'started by the first'])
  })
})

t.test('a working folder that cannot be is refused', async (t) => {
  const root = t.testdir({})
  for (const name of ['x'.repeat(300), 'a\0b', 'nowhere', 'x/'.repeat(5000)]) {
    await t.rejects(
      workingFolder(root, name, new Set()),
      { code: 'bad_request' },
      name.slice(0, 20),
    )
  }
})

t.test('a session number is one more than any that was ever used', async (t) => {
  const root = t.testdir({
    cases: {
      [CASE_ID]: { sessions: { '2.md': '\xff', 'latest.md': '' }, artifacts: { '4-a.log': '' } },
    },
  })
  const next = (remembered = 0) => nextSessionNumber(layoutOf(root, root), remembered, CASE_ID)
  t.equal(await next(), 5, 'one whose output is still there')
  await rm(join(root, 'cases', CASE_ID, 'artifacts'), { recursive: true })
  t.equal(await next(), 3, 'one whose file is there, whatever it says')
  t.equal(await next(6), 7, 'one of which nothing is left')
})

t.test('session numbers end where no reader would know the file', async (t) => {
  for (const [names, next] of [
    [['7.md'], 8],
    [['999998.md'], 999_999],
    [['999999.md'], null],
  ] as const) {
    await t.test(String(names), async (t) => {
      const files = Object.fromEntries(names.map((name) => [name, '']))
      const root = t.testdir({ cases: { [CASE_ID]: { sessions: files } } })
      const number = nextSessionNumber(layoutOf(root, root), 0, CASE_ID)
      if (next === null) await t.rejects(number, { code: 'already_exists', message: /999999/ })
      else t.equal(await number, next)
    })
  }
})

t.test('the state folder', async (t) => {
  await t.test('is named after the real path of the memory root', async (t) => {
    const root = t.testdir({ real: {} })
    await symlink('real', join(root, 'link'))
    const env = { HOME: '/home/ann' }
    const direct = await defaultStateFolder(join(root, 'real', 'not', 'yet'), env)
    t.match(direct, /^\/home\/ann\/\.local\/state\/casefile\/[0-9a-f]{16}$/)
    t.equal(await defaultStateFolder(join(root, 'link', 'not', 'yet'), env), direct)
    await mkdir(join(root, 'real', 'not', 'yet'), { recursive: true })
    t.equal(await defaultStateFolder(join(root, 'link', 'not', 'yet'), env), direct)
    const xdg = await defaultStateFolder(root, { ...env, XDG_STATE_HOME: '/state' })
    t.match(xdg, /^\/state\/casefile\//)
    const relative = await defaultStateFolder(root, { ...env, XDG_STATE_HOME: 'state' })
    t.match(relative, /^\/home\/ann\//)
    t.equal(await realPathOf('/'), '/')
  })

  await t.test('is private and outside of the tree', async (t) => {
    const root = t.testdir({ workspace: { memory: {} }, loose: {} })
    const workspaceRoot = join(root, 'workspace')
    const memoryRoot = join(workspaceRoot, 'memory')
    const state = await openStateFolder(join(root, 'a', 'b'), { memoryRoot, workspaceRoot })
    t.equal(state.root, join(root, 'a', 'b'))
    t.equal(await modeOf(state.root), '700')
    t.same(await readdir(state.root), [])
    await chmod(join(root, 'loose'), 0o755)
    await openStateFolder(join(root, 'loose'), { memoryRoot })
    t.equal(await modeOf(join(root, 'loose')), '700')
    await symlink('workspace', join(root, 'link'))
    for (const inside of [memoryRoot, join(memoryRoot, 's'), join(root, 'link', 's')]) {
      const open = openStateFolder(inside, { memoryRoot, workspaceRoot })
      await t.rejects(open, { code: 'bad_request', message: /git clean/ })
    }
    await openStateFolder(join(root, 'workspace-2'), { memoryRoot, workspaceRoot })
    if (process.platform !== 'linux') return
    await t.rejects(openStateFolder('/sys/casefile/s', { memoryRoot }), {
      message:
        /^The state folder \/sys\/casefile\/s cannot be made\. .* Or give another one with --/,
    }) // where nobody makes a folder, root neither
  })
})

t.test('removing a folder', async (t) => {
  await t.test('takes it away without following links', async (t) => {
    const root = t.testdir({ cases: { one: { sub: { 'a.md': '' } } }, precious: { 'b.md': 'b' } })
    const trash = join(root, 'trash')
    await symlink('../../precious', join(root, 'cases', 'one', 'link'))
    t.equal(await removeFolder(join(root, 'cases', 'one'), trash), true)
    t.equal(await removeFolder(join(root, 'cases', 'one'), trash), false)
    t.same(await readdir(join(root, 'cases')), [])
    t.same(await readdir(trash), [])
    t.same(await readdir(join(root, 'precious')), ['b.md'])
  })

  await t.test('works with the trash on another file system', async (t) => {
    const root = t.testdir({ cases: { one: { 'a.md': '' } }, trash: {} })
    await inTmpfs(t, join(root, 'trash'), async () => {
      t.equal(await removeFolder(join(root, 'cases', 'one'), join(root, 'trash')), true)
      t.same(await readdir(join(root, 'cases')), [])
    })
  })

  await t.test('that was cut short is finished at the next start', async (t) => {
    const root = t.testdir({
      trash: { '0123456789abcdef01234567': { 'a.md': '' }, 'not-ours': {} },
      cases: { two: { 'a.md': '' } },
    })
    await mkdir(join(trashName(join(root, 'cases', 'one')), 'deep'), { recursive: true })
    await emptyTrash(join(root, 'trash'), join(root, 'cases'))
    await emptyTrash(join(root, 'missing'), join(root, 'missing'))
    t.same(await readdir(join(root, 'trash')), ['not-ours'])
    t.same(await readdir(join(root, 'cases')), ['two'])
  })
})

t.test('removing what a program left', async (t) => {
  const folder = (t: Test) => join(t.testdir({ precious: { 'b.md': 'b' }, left: {} }), 'left')
  const cases: [string, (left: string) => unknown][] = [
    ['a file', async (left) => rmdir(left).then(() => writeFile(left, ''))],
    ['nothing', (left) => rmdir(left)],
    ['folders deeper than a path may be', (left) => makeTooDeep(left)],
    [
      'folders that nobody may look into',
      async (left) => {
        await mkdir(join(left, 'a/b/c'), { recursive: true })
        makeTooDeep(join(left, 'a/b'))
        await writeFile(join(left, 'a/b/c/file'), '')
        for (const name of ['a/b/c', 'a/b', 'a', '.']) await chmod(join(left, name), 0)
      },
    ],
    [
      'read-only folders',
      async (left) => {
        await mkdir(join(left, 'a/b/c'), { recursive: true })
        for (const name of ['a/b/c', 'a/b', 'a']) await chmod(join(left, name), 0o555)
      },
    ],
    [
      'FIFOs, links, and names that are no text',
      async (left) => {
        await run('mkfifo', [join(left, 'fifo')])
        await symlink('loop', join(left, 'loop'))
        const odd = Buffer.concat([Buffer.from(`${left}/`), Buffer.of(0xff)])
        await mkdir(odd)
        await writeFile(Buffer.concat([odd, Buffer.from('/\n')]), '')
      },
    ],
  ]
  for (const [name, make] of cases) {
    await t.test(name, async (t) => {
      const left = folder(t)
      await make(left)
      t.equal(await removeStubborn(left), null)
      t.same(await readdir(dirname(left)), ['precious'])
    })
  }

  await t.test('links lead nowhere', async (t) => {
    const left = folder(t)
    const precious = join(left, '../precious')
    await chmod(precious, 0o555)
    await mkdir(join(left, 'a/b'), { recursive: true })
    for (const name of ['link', 'a/link', 'a/b/link']) await symlink(precious, join(left, name))
    t.equal(await removeStubborn(left), null)
    await symlink(precious, left)
    t.equal(await removeStubborn(left), null)
    t.same(await readdir(dirname(left)), ['precious'])
    t.same(await readdir(precious), ['b.md'])
    t.equal(await modeOf(precious), '555')
    await chmod(precious, 0o755)
  })

  await t.test('what cannot be removed stays, and stops nothing', async (t) => {
    const scratch = folder(t)
    const mounted = join(scratch, 'plan-1/mounted')
    await mkdir(mounted, { recursive: true })
    for (const name of ['plan-1/file', 'other']) await writeFile(join(scratch, name), '')
    const state = await openStateFolder(join(scratch, '../state'), { memoryRoot: scratch })
    const clear = (log: (line: string) => void) =>
      clearLeftovers({ ...state, scratch }, scratch, log)
    await inTmpfs(t, mounted, async () => {
      await writeFile(join(mounted, 'theirs'), '')
      const opened = await openRunFolder(scratch, 'plan-1')
      t.match(opened.path, /\/plan-1-\w{6}$/, 'its name is not free')
      t.same(await readdir(join(scratch, 'plan-1')), ['mounted'])
      const lines: string[] = []
      await clear((line) => lines.push(line))
      t.equal(lines.length, 1)
      t.match(lines[0], /left in .* could be removed \(EBUSY\)/)
      const [left = '', ...more] = await readdir(scratch)
      t.same(more, [])
      await rename(join(scratch, left), join(scratch, 'plan-1'))
      t.same(await readdir(mounted), ['theirs'])
    })
    await clear((line) => t.fail(line))
    t.notOk((await readdir(dirname(scratch))).includes('left'))
  })
})

t.test('what is appended is there as a whole, and a new file with its folder', async (t) => {
  const folder = await realPathOf(t.testdir({ 'notes.md': 'one\n' }))
  const path = join(folder, 'notes.md')
  await t.test('not where the disk takes a part', async (t) => {
    const { writeSync } = fsNow
    replaceCall(t, 'writeSync', (...given) => writeSync(Number(given[0]), given[1] as Buffer, 0, 2))
    const two = (present: Buffer | null) => ({ keep: present!.length, bytes: Buffer.from('two\n') })
    const append = () => openToAppend(path, { maxBytes: 100, within: folder }, two).write()
    t.throws(append, { code: 'storage_full' })
    t.equal(await readFile(path, 'utf8'), 'one\n')
  })
  let syncs = 0
  onFolderSync(
    t,
    (end) => {
      syncs += 1
      end()
    },
    folder,
  )
  await syncAppended(path, false)
  t.equal(syncs, 0)
  await syncAppended(path, true)
  t.equal(syncs, 1)
})
