import * as fc from 'fast-check'
import t from 'tap'
import {
  rangesText,
  readRanges,
  splitBy,
  withRange,
} from '../../src/rendering/live-log/byte-ranges.ts'
import { beginningOf } from '../../src/rendering/live-log/cut-line.ts'
import { numberLines } from '../../src/rendering/live-log/line-numbers.ts'
import { createOutputLog, type LogText } from '../../src/rendering/live-log/output-log.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const said = (texts: readonly LogText[]) => texts.map(({ text }) => text).join('')
const live = (offset: number, text: string, isError = false) => ({ offset, text, isError })

t.test('pieces that come in order are taken as they come', async (t) => {
  const log = createOutputLog(0)
  t.strictSame(log.piece(live(0, 'one\n')), [{ text: 'one\n', isError: false }])
  t.strictSame(log.piece(live(4, 'two\n', true)), [{ text: 'two\n', isError: true }])
  t.equal(log.end(), 8)
  t.equal(log.known(), 8)
})

t.test('what is there already is not taken twice', async (t) => {
  const log = createOutputLog(0)
  log.bytes(0, bytesOf('one\ntw'))
  t.equal(said(log.piece(live(0, 'one\n'))), '')
  t.equal(said(log.piece(live(4, 'two\n'))), 'o\n', 'the rest of a piece that is there in part')
})

t.test('behind a gap nothing is taken, and the gap is known', async (t) => {
  const log = createOutputLog(0)
  t.equal(said(log.piece(live(100, 'late\n', true))), '')
  t.equal(log.end(), 0)
  t.equal(log.known(), 105)
  const texts = log.bytes(0, bytesOf(`${'x'.repeat(99)}\nlate\n`))
  t.strictSame(texts.at(-1), { text: 'late\n', isError: true }, 'it is known where it came from')
  t.equal(log.end(), log.known())
})

t.test('a character that is cut between two fetches is one character', async (t) => {
  const log = createOutputLog(0)
  const bytes = bytesOf('a€b')
  t.equal(said(log.bytes(0, bytes.subarray(0, 2))) + said(log.bytes(2, bytes.subarray(2))), 'a€b')
})

t.test('of a text with U+FFFD the bytes are asked for: it may stand for one byte', async (t) => {
  const log = createOutputLog(0)
  t.equal(said(log.piece(live(0, 'a\ufffdb'))), '')
  t.ok(log.known() > log.end())
  t.equal(said(log.bytes(0, Uint8Array.of(97, 0xff, 98))), 'a\ufffdb')
  t.equal(said(log.piece(live(3, 'c'))), 'c')
})

t.test('a reader who is far behind leaves out what lies between', async (t) => {
  const log = createOutputLog(0)
  log.learn(1_000_000, [{ from: 999_990, to: 1_000_000 }])
  log.skipTo(999_980)
  const texts = log.bytes(999_970, bytesOf('0123456789abcdefghijklmnopqrst'))
  t.strictSame(texts, [
    { text: 'abcdefghij', isError: false },
    { text: 'klmnopqrst', isError: true },
  ])
})

t.test('however it comes, the text is whole and in order', async () => {
  const part = fc.record({
    from: fc.nat({ max: 60 }),
    length: fc.nat({ max: 30 }),
    isLive: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.array(part), (text, parts) => {
      if (text.includes('\ufffd') || !text.isWellFormed()) return
      const bytes = bytesOf(text)
      const log = createOutputLog(0)
      let shown = ''
      for (const { from, length, isLive } of parts) {
        const [start, end] = [from, from + length].map((at) => characterAt(text, at))
        if (isLive)
          shown += said(
            log.piece(live(bytesOf(text.slice(0, start)).length, text.slice(start, end))),
          )
        else shown += said(log.bytes(from, bytes.subarray(from, from + length)))
      }
      shown += said(log.bytes(0, bytes))
      if (shown !== text) throw new Error(`${JSON.stringify(shown)} is not ${JSON.stringify(text)}`)
    }),
  )
})

/** A place in the text where a character begins. */
function characterAt(text: string, at: number): number {
  const place = Math.min(at, text.length)
  return /[\udc00-\udfff]/.test(text[place] ?? '') ? place - 1 : place
}

t.test('ranges', async (t) => {
  const range = (from: number, to: number) => ({ from, to })
  t.strictSame(withRange([range(0, 5)], range(5, 9)), [range(0, 9)], 'touching ones are one')
  t.strictSame(withRange([range(0, 5), range(8, 9)], range(4, 8)), [range(0, 9)])
  t.strictSame(withRange([range(8, 9)], range(0, 2)), [range(0, 2), range(8, 9)], 'in order')
  t.strictSame(withRange([range(1, 2)], range(5, 5)), [range(1, 2)], 'an empty one is none')
  t.strictSame(splitBy([range(2, 4), range(6, 20)], range(0, 10)), [
    { ...range(0, 2), inside: false },
    { ...range(2, 4), inside: true },
    { ...range(4, 6), inside: false },
    { ...range(6, 10), inside: true },
  ])
  t.strictSame(readRanges(rangesText([range(1, 2), range(7, 30)])), [range(1, 2), range(7, 30)])
  t.strictSame(readRanges('nonsense'), [])
})

t.test('a character that is cut goes on in its own stream', async (t) => {
  const log = createOutputLog(0)
  const [first, ...rest] = bytesOf('€')
  log.learn(4, [{ from: 1, to: 2 }])
  const texts = log.bytes(0, new Uint8Array([first!, ...bytesOf('x'), ...rest]))
  t.strictSame(texts, [
    { text: 'x', isError: true },
    { text: '€', isError: false },
  ])
})

t.test('where to begin in what was cut out of a log', async (t) => {
  const long = 'x'.repeat(100)
  const cases: [bytes: Uint8Array, start: number, isMidLine: boolean][] = [
    [bytesOf(`end\n${long}`), 4, false],
    [bytesOf(`${long}\n`), 0, true],
    [bytesOf(`31mred\x1b[0m${long}`), 6, true],
    [bytesOf(`€${long}`).subarray(1), 2, true],
    [bytesOf(`é${long}`), 0, true],
    [bytesOf(''), 0, true],
  ]
  for (const [bytes, start, isMidLine] of cases) {
    t.strictSame(beginningOf(bytes), { start, isMidLine }, JSON.stringify([start, isMidLine]))
  }
})

t.test('a line that was split has one number', async (t) => {
  const numbers = numberLines(7)
  const next = (wrapped: boolean) => numbers.next({ runs: [], wrapped })
  t.strictSame([next(true), numbers.peek(), next(false), next(false)], [7, null, null, 8])
  numbers.restart(20)
  t.strictSame([next(false), numbers.peek()], [20, 21])
  t.equal(numberLines(null).next({ runs: [], wrapped: false }), null)
})
