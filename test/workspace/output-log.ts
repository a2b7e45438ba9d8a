import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { plainText } from '../../src/files/plain-text.ts'
import { endOfText } from '../../src/runners/output/end-of-text.ts'
import { endOfFile, openOutputLog } from '../../src/runners/output/output-log.ts'
import { readStderrMarks } from '../../src/runners/output/stderr-marks.ts'
import { cpuTime } from '../fixtures/cpu-time.ts'

const sha256Of = (path: string) => hash('sha256', readFileSync(path))

t.test('a log keeps what is written, in order', async (t) => {
  const path = `${t.testdir()}/out.log`
  const log = await openOutputLog(path)
  for (let i = 0; i < 1000; i++) log.write(Buffer.from(`line ${i}\n`))
  const expected = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join('')
  t.strictSame(await log.close(), {
    bytes: expected.length,
    kept: expected.length,
    truncated: false,
    sha256: sha256Of(path),
  })
  t.equal(readFileSync(path, 'utf8'), expected)
  t.equal(statSync(path).mode & 0o777, 0o644 & ~process.umask())
  t.throws(() => log.write(Buffer.from('late')), { message: /is closed/ })
})

t.test('what was written is in the file at once, whatever becomes of this process', async (t) => {
  const path = `${t.testdir()}/out.log`
  const log = await openOutputLog(path)
  log.write(Buffer.from('told'))
  t.equal(readFileSync(path, 'utf8'), 'told')
  await log.close()
})

t.test('which bytes came from standard error is beside the log at once', async (t) => {
  const path = `${t.testdir()}/1-out.log`
  const log = await openOutputLog(path, 12)
  log.write(Buffer.from('one\n'))
  t.strictSame(await readStderrMarks(path, 4), [])
  log.write(Buffer.from('two\n'), true)
  log.write(Buffer.from('3\n'), true)
  t.strictSame(await readStderrMarks(path, 10), [{ from: 4, to: 10 }], 'as after a kill')
  log.write(Buffer.from('4'))
  log.write(Buffer.from('cut off'), true)
  await log.close()
  t.strictSame(await readStderrMarks(path, 99), [
    { from: 4, to: 10 },
    { from: 11, to: 12 },
  ])
})

t.test('a log ends with one line that says what was cut', async (t) => {
  const dir = t.testdir()
  const cases = [
    [10, '0123456789', '0123456789'],
    [
      10,
      '0123456789abc',
      '0123456789\n[casefile: output cut here at 10 bytes; 3 more bytes were dropped]\n',
    ],
    [0, 'abc', '\n[casefile: output cut here at 0 MiB; 3 more bytes were dropped]\n'],
  ] as const
  for (const [limit, text, expected] of cases) {
    t.test(`${text.length} bytes, limit ${limit}`, async (t) => {
      const path = `${dir}/${limit}-${text.length}`
      const log = await openOutputLog(path, limit)
      for (const character of text) log.write(Buffer.from(character))
      const kept = Math.min(text.length, limit)
      const truncated = text.length > limit
      t.strictSame(await log.close(), {
        bytes: text.length,
        kept,
        truncated,
        sha256: sha256Of(path),
      })
      t.equal(readFileSync(path, 'utf8'), expected)
    })
  }

  t.test('the limit is 20 MiB, and a flood of 40 MB is not held in memory', async (t) => {
    const log = await openOutputLog(`${dir}/flood`)
    const part = Buffer.alloc(1_000_000, 'x')
    for (let i = 0; i < 40; i++) log.write(part)
    const kept = 20 * 1024 * 1024
    const { sha256, ...rest } = await log.close()
    t.strictSame(rest, { bytes: 40_000_000, kept, truncated: true })
    t.equal(sha256, sha256Of(`${dir}/flood`))
    const end = readFileSync(`${dir}/flood`).subarray(kept).toString()
    t.equal(
      end,
      `\n[casefile: output cut here at 20 MiB; ${40_000_000 - kept} more bytes were dropped]\n`,
    )
  })
})

t.test('a log is a new file', async (t) => {
  const dir = t.testdir({ there: 'mine', outside: 'mine' })
  symlinkSync(`${dir}/nowhere`, `${dir}/link`)
  await t.rejects(openOutputLog(`${dir}/there`), { code: 'EEXIST' })
  await t.rejects(
    openOutputLog(`${dir}/link`),
    { code: 'EEXIST' },
    'a dangling link is not followed',
  )
  await t.rejects(openOutputLog(`${dir}/no/folder`), { code: 'ENOENT' })
})

t.test('what stands in the place of a log is not followed, and not waited for', async (t) => {
  const dir = t.testdir({ outside: 'theirs', folder: {} })
  symlinkSync('outside', `${dir}/link`)
  execFileSync('mkfifo', [`${dir}/pipe`])
  const codes = { link: 'ELOOP', pipe: 'EINVAL', folder: 'EISDIR', nothing: 'ENOENT' }
  for (const [name, code] of Object.entries(codes)) {
    await t.rejects(endOfFile(`${dir}/${name}`, 10), { code }, name)
  }
})

t.test('a disk error waits for close', async (t) => {
  // The largest file this process may write becomes 4 KiB, as on a full disk but without one.
  const limit = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`])
  try {
    limit('unlimited')
  } catch {
    t.pass('skipped: needs prlimit (util-linux), and an unlimited hard limit')
    return
  }
  const dir = t.testdir()
  const log = await openOutputLog(`${dir}/out.log`)
  // Tap ends a process for this signal, unless someone else listens to it as well; it can come after the error.
  process.on('SIGXFSZ', () => {})
  limit('4096')
  t.teardown(() => limit('unlimited'))
  for (let i = 0; i < 10; i++) log.write(Buffer.alloc(1000, 'x'))
  const failure = { code: 'storage_full', cause: { code: 'EFBIG' } }
  t.match(await log.close(), { truncated: true, failure })
  t.match(await log.close(), { failure }, 'and a second close says the same')
})

t.test('the end of a text begins with a line, and never cuts a character', (t) => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `line ${from + i}\n`).join('')
  t.strictSame(endOfText('äöü', 6), { text: 'äöü', isCut: false })
  t.strictSame(endOfText(lines(100, 200), 50), { text: lines(195, 200), isCut: true })
  for (const text of [lines(0, 500), 'x'.repeat(3000), 'ä€😀'.repeat(400), '\n'.repeat(3000)]) {
    for (let limit = 0; limit < 700; limit += 7) {
      const { text: end } = endOfText(text, limit)
      if (Buffer.byteLength(end) > limit || !text.endsWith(end)) t.fail(`limit ${limit}`, { end })
    }
  }
  t.end()
})

t.test('the end of a file', async (t) => {
  const dir = t.testdir({
    small: 'a\r\nb\x1b[31mred\x1b[0m',
    colour: '\x1b[31mred\x1b[0m\n'.repeat(20),
    large: Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join(''),
  })
  t.strictSame(await endOfFile(`${dir}/small`, 1000), { text: 'a\nbred', isCut: false })
  t.strictSame(await endOfFile(`${dir}/colour`, 100), { text: 'red\n'.repeat(20), isCut: false })
  t.strictSame(await endOfFile(`${dir}/large`, 24), {
    text: 'line 19998\nline 19999\n',
    isCut: true,
  })
  writeFileSync(`${dir}/binary`, Buffer.alloc(100_000, 0xff))
  t.ok(Buffer.byteLength((await endOfFile(`${dir}/binary`, 240)).text) <= 240)
})

t.test('plainText', async (t) => {
  const cases = [
    ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
    ['cursor and erase', 'a\x1b[2K\x1b[1Gb\x1b[?25l', 'ab'],
    ['a title', '\x1b]0;title\x07text', 'text'],
    ['a link', '\x1b]8;;https://a.example\x1b\\here\x1b]8;;\x1b\\.', 'here.'],
    ['a string without an end', '\x1b]0;title\nnext', '\nnext'],
    ['a character set', '\x1b(Btext\x1b7', 'text'],
    ['a sequence cut short', 'text\x1b[3', 'text'],
    ['a lone escape', 'text\x1b', 'text'],
    ['controls', 'a\x00b\x08c\x0bd\x7fe', 'abcde'],
    ['line feed and tab', 'a\tb\nc', 'a\tb\nc'],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
    ['a progress bar', '10%\r20%\r30%\n', '10%\n20%\n30%\n'],
    ['what only looks like one', '[31m é 漢 😀', '[31m é 漢 😀'],
  ] as const
  for (const [name, text, expected] of cases) {
    t.test(name, async (t) => {
      t.equal(plainText(text), expected)
    })
  }

  const parts = ['\x1b[', '\x1b]', '\r', '\x1b[1;', '\x1b]x\x07', '\x1b ']
  const all = () => parts.forEach((part) => void plainText(part.repeat(100_000)))
  t.ok((await cpuTime(all, { enough: 3000 })) < 3000, 'the time is linear')
})
