import t from 'tap'
import { createLiveOutput } from '../../src/sessions/live-output.ts'

type Stream = 'stdout' | 'stderr'
type Piece = [stream: Stream, text: string, offset: number | null]

function recorded(chunks: [Stream, Buffer][]) {
  const pieces: Piece[] = []
  const live = createLiveOutput((...piece) => pieces.push(piece), 'artifacts/1-x.log')
  const text = chunks.map(([stream, bytes]) => live.write(stream, bytes)).join('') + live.end()
  return { pieces, text, log: Buffer.concat(chunks.map(([, bytes]) => bytes)) }
}

const bytes = (text: string) => Buffer.from(text)

/** The same every time. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}

function cut(text: Buffer, below: (n: number) => number, most: number): Buffer[] {
  const parts: Buffer[] = []
  for (let from = 0; from < text.length; ) {
    const to = from + 1 + below(most)
    parts.push(text.subarray(from, to))
    from = to
  }
  return parts
}

t.test('a piece stands in the log where its offset says, however the bytes come', async (t) => {
  for (let seed = 1; seed <= 50; seed++) {
    const whole = bytes('aß€😀\n\u001b[31mред\u001b[0m'.repeat(200))
    const below = random(seed)
    const { pieces, log, text } = recorded(
      cut(whole, below, seed).map((part) => ['stdout', part] as [Stream, Buffer]),
    )
    t.equal(text, whole.toString())
    t.equal(pieces.map((piece) => piece[1]).join(''), whole.toString())
    for (const [, said, offset] of pieces) {
      const there = log.subarray(offset!, offset! + Buffer.byteLength(said)).toString()
      if (there !== said) t.equal(there, said, `seed ${seed}, at ${offset}`)
    }
  }
})

t.test('past the limit only the end of what comes is given back', async (t) => {
  const pieces: Piece[] = []
  const live = createLiveOutput((...piece) => pieces.push(piece), 'artifacts/1-x.log')
  live.write('stdout', Buffer.alloc(1024 * 1024 + 1, 'a'))
  const published = pieces.length
  for (const size of [1, 4095, 4096, 4097, 5000, 16_383, 16_384, 50_000]) {
    const whole = '😀'.repeat(size)
    const chunk = bytes(whole)
    const text = live.write('stdout', chunk.subarray(0, -2))
    t.ok(whole.startsWith('😀') && whole.slice(0, -2).endsWith(text), `${size}`)
    t.equal(text.length, Math.min(2 * (size - 1), 2 * 4096), `${size}`)
    t.equal(live.write('stdout', chunk.subarray(-2)), '😀')
  }
  t.equal(live.end(), '')
  t.equal(pieces.length, published)
})

t.test('two streams share one count', async (t) => {
  t.strictSame(
    recorded([
      ['stdout', bytes('one\n')],
      ['stderr', bytes('zwölf\n')],
      ['stdout', bytes('two\n')],
    ]).pieces,
    [
      ['stdout', 'one\n', 0],
      ['stderr', 'zwölf\n', 4],
      ['stdout', 'two\n', 11],
    ],
  )
})

t.test('a character that the other stream breaks into', async (t) => {
  const euro = bytes('€')
  t.strictSame(
    recorded([
      ['stdout', euro.subarray(0, 2)],
      ['stderr', bytes('!')],
      ['stdout', euro.subarray(2)],
      ['stdout', bytes('.')],
    ]).pieces,
    [
      ['stderr', '!', 0],
      ['stdout', '€', 1],
      ['stdout', '.', 4],
    ],
    'its offset is off by the two bytes, the next one is right',
  )
})

t.test('bytes that are no text count as the bytes that they are', async (t) => {
  const { pieces, text } = recorded([
    ['stdout', Buffer.from([0xff, 0xfe, 0x80])],
    ['stdout', bytes('x')],
    ['stdout', Buffer.from([0xe2, 0x82])],
    ['stdout', bytes('y')],
    ['stderr', Buffer.from([0xf0, 0x9f])],
  ])
  t.equal(text, '\ufffd\ufffd\ufffdx\ufffdy\ufffd')
  t.strictSame(pieces, [
    ['stdout', '\ufffd\ufffd\ufffd', 0],
    ['stdout', 'x', 3],
    ['stdout', '\ufffdy', 4],
    ['stderr', '\ufffd', 7],
  ])
})

t.test('pieces are of 16 KiB at most, and characters stay whole', async (t) => {
  const whole = 'x€'.repeat(20_000)
  const { pieces } = recorded([['stdout', bytes(whole)]])
  t.ok(pieces.length > 4)
  t.ok(pieces.every(([, text]) => Buffer.byteLength(text) <= 16 * 1024 && !text.includes('\ufffd')))
  t.equal(pieces.map(([, text]) => text).join(''), whole)
})

t.test('past 1 MiB a line of the service’s own says so, and stands in no log', async (t) => {
  const line = bytes(`${'x'.repeat(1023)}\n`)
  const { pieces } = recorded(Array.from({ length: 1100 }, () => ['stdout', line]))
  t.equal(pieces.length, 1026)
  t.match(pieces.at(-1), ['stdout', /live output stops here at 1 MiB/, null])
  t.equal(pieces.at(-2)?.[2], 1024 * 1024)
})
