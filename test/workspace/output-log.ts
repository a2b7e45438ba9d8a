import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { plainText } from '../../src/files/plain-text.ts'
import { headAndTail } from '../../src/runners/output/output-excerpt.ts'
import { headAndTailOfFile, openOutputLog } from '../../src/runners/output/output-log.ts'
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
    await t.rejects(headAndTailOfFile(`${dir}/${name}`, 10, 'it'), { code }, name)
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
  // Tap ends a process for this signal, unless someone else listens to it as well.
  const ignore = () => {}
  process.on('SIGXFSZ', ignore)
  limit('4096')
  t.teardown(() => {
    limit('unlimited')
    process.off('SIGXFSZ', ignore)
  })
  for (let i = 0; i < 10; i++) log.write(Buffer.alloc(1000, 'x'))
  const failure = { code: 'storage_full', cause: { code: 'EFBIG' } }
  t.match(await log.close(), { truncated: true, failure })
  t.match(await log.close(), { failure }, 'and a second close says the same')
})

t.test('headAndTail', async (t) => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `line ${from + i}\n`).join('')

  t.test('leaves a text that fits', async (t) => {
    t.equal(headAndTail('äöü', 6, 'x'), 'äöü')
    t.equal(headAndTail('', 0, 'x'), '')
  })

  t.test('cuts at line ends', async (t) => {
    const text = lines(100, 200)
    const cut = headAndTail(text, 200, 'artifacts/out.log')
    const shown = lines(100, 107) + lines(193, 200)
    const note = `[casefile: ${text.length - shown.length} bytes cut here; full text is in artifacts/out.log]\n`
    t.equal(cut, lines(100, 107) + note + lines(193, 200))
  })

  t.test('never exceeds the limit, and never cuts a character', async (t) => {
    const texts = [
      lines(0, 500),
      'x'.repeat(3000),
      'ä€😀'.repeat(400),
      `${'€'.repeat(900)}\n`,
      '\n'.repeat(3000),
    ]
    for (const text of texts) {
      for (let limit = 0; limit < 700; limit += 7) {
        const cut = headAndTail(text, limit, 'artifacts/ö.log')
        const bytes = Buffer.byteLength(cut)
        if (bytes > limit || cut.includes('\ufffd'))
          t.fail(`limit ${limit}: ${bytes} bytes`, { cut })
        const missing = /casefile: (\d+) bytes cut here; full text is in artifacts\/ö.log\]\n/.exec(
          cut,
        )
        if (missing === null) continue
        const [head = '', tail = ''] = cut.split(`[${missing[0]}`)
        const known = Buffer.byteLength(head.replace(/\n$/, '')) + Buffer.byteLength(tail)
        const whole = known + Number(missing[1])
        const size = Buffer.byteLength(text)
        if (whole !== size && whole !== size - 1)
          t.fail(`limit ${limit}: counts ${whole} of ${size}`)
      }
    }
    t.pass('for every limit')
  })
})

t.test('headAndTailOfFile', async (t) => {
  const dir = t.testdir({
    small: 'a\r\nb\x1b[31mred\x1b[0m',
    colour: '\x1b[31mred\x1b[0m\n'.repeat(20),
  })
  const where = 'artifacts/out.log'
  t.equal(await headAndTailOfFile(`${dir}/small`, 1000, where), 'a\nbred', 'is plain text')
  t.equal(
    await headAndTailOfFile(`${dir}/colour`, 100, where),
    'red\n'.repeat(20),
    'counts the text',
  )

  t.test('reads the two ends of a large file', async (t) => {
    const text = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join('')
    writeFileSync(`${dir}/large`, text)
    t.equal(await headAndTailOfFile(`${dir}/large`, 300, where), headAndTail(text, 300, where))
  })

  t.test('does not grow by bytes that are no UTF-8', async (t) => {
    for (const size of [90, 200, 1000, 100_000]) {
      writeFileSync(`${dir}/binary`, Buffer.alloc(size, 0xff))
      const cut = await headAndTailOfFile(`${dir}/binary`, 240, where)
      t.ok(Buffer.byteLength(cut) <= 240, `${size} bytes: ${Buffer.byteLength(cut)}`)
      const shown = cut.split('\ufffd').length - 1
      t.match(cut, new RegExp(`${size - shown} bytes cut here`))
    }
  })
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
