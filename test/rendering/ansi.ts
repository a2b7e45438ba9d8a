import fc from 'fast-check'
import t from 'tap'
import { type AnsiLine, ansiLines, createAnsiReader } from '../../src/rendering/ansi/lines.ts'
import { ansiHtml, classesOf, lookOf } from '../../src/rendering/ansi/look.ts'
import { nextStyle, PLAIN } from '../../src/rendering/ansi/style.ts'
import { createTerminalFilter } from '../../src/rendering/ansi/terminal.ts'

/** As in `red|fg-1 plain|`: each run with its classes. */
function runsOf(line: AnsiLine): string {
  return line.runs.map(({ text, style }) => `${text}|${classesOf(style).join(' ')}`).join(' ')
}

/** Texts made of what matters: sequences, whole and broken, line ends, wide characters. */
const output = fc
  .array(
    fc.constantFrom(
      'a',
      'bc ',
      '\t',
      '\n',
      '\r',
      '\r\n',
      '\b',
      '\0',
      '\x07',
      '🙂',
      '\u202e',
      '\u{e0041}',
      '\x1b',
      '\x1b[',
      '\x1b[31m',
      '\x1b[1;4m',
      '\x1b[0m',
      '\x1b[38;5;200m',
      '\x1b[2K',
      '\x1b[38:2::1:2:3m',
      '\x1b[K',
      '\x1b[7',
      ';',
      'm',
      '\x1b[G',
      '\x1b]0;title\x07',
      '\x1b]8;;',
      '\x1b\\',
      '\x9b32m',
      '\x1bP',
      '\x1b(B',
      '\x1b[?25l',
      '\ud83d',
      '\x9d',
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

function chunked(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((start, index) => text.slice(start, places[index]))
}

t.test('what a line of output looks like', async (t) => {
  const cases: [string, string, string[]][] = [
    ['plain text', 'a\nb', ['a|', 'b|']],
    ['a blank line', 'a\n\nb\n', ['a|', '', 'b|']],
    ['lines that end in CR LF', 'a\r\nb\r\n', ['a|', 'b|']],
    ['colours', '\x1b[31mred\x1b[0m plain', ['red|fg-1  plain|']],
    ['a colour over lines', '\x1b[32ma\nb', ['a|fg-2', 'b|fg-2']],
    ['bright colours', '\x1b[91;104ma', ['a|fg-9 bg-12']],
    ['marks', '\x1b[1;2;3;4;9ma', ['a|bold dim italic underline strike']],
    ['marks taken back', '\x1b[1;3m\x1b[22ma', ['a|italic']],
    ['a mark set twice, taken back once', '\x1b[1m\x1b[1m\x1b[22ma', ['a|']],
    ['no parameter', '\x1b[1ma\x1b[mb', ['a|bold b|']],
    ['inverse text', '\x1b[7;31ma', ['a|inverse bg-1']],
    ['hidden text is not hidden', '\x1b[8ma\x1b[30;40mb', ['a| b|']],
    ['of 256 colours, one of the 16', '\x1b[38;5;9ma', ['a|fg-9']],
    ['of 256 colours, the nearest', '\x1b[38;5;196ma', ['a|fg-1']],
    ['any colour, the nearest', '\x1b[48;2;250;250;250ma', ['a|bg-15']],
    ['any colour with colons', '\x1b[38:2::250:250:250;4:3ma', ['a|underline fg-15']],
    ['an underline with colons, taken back', '\x1b[4m\x1b[4:0ma', ['a|']],
    ['a progress bar', '10%\r50%\rdone', ['done|']],
    ['a shorter text after CR', '100%\r5%\n', ['5%|']],
    ['a CR that nothing follows', '100%\r', ['100%|']],
    ['an erased line', 'abc\x1b[2Kd', ['d|']],
    ['the rest of a line erased', 'abc\r\x1b[Kd', ['d|']],
    ['what is before the cursor erased', 'abc\b\x1b[1K', ['abc|']],
    ['all before the cursor erased', 'abc\x1b[1Kd', ['d|']],
    ['text in nearly the colour of its background', '\x1b[38;5;196;41ma', ['a|']],
    ['the first column', 'abc\x1b[1Gd', ['d|']],
    ['backspaces', 'abc\b\bX', ['aX|']],
    ['a backspace that nothing follows', 'abc\b', ['abc|']],
    ['a tab', 'a\tb', ['a\tb|']],
    ['control characters', 'a\0\x07\x7fb', ['a␀␇␡b|']],
    ['C1', 'a\x85\x9b31mb', ['a| b|fg-1']],
    ['what runs backwards', 'a\u202eb', ['a[U+202E]b|']],
    ['cursor moves', 'a\x1b[2Ab\x1b[10;10Hc\x1b[2Jd', ['abcd|']],
    ['a title', '\x1b]0;evil\x07a\x1b]2;evil\x1b\\b', ['ab|']],
    ['a link', '\x1b]8;;https://evil.org\x1b\\a\x1b]8;;\x1b\\', ['a|']],
    ['the clipboard', '\x1b]52;c;ZXZpbA==\x07a', ['a|']],
    ['a device string', '\x1bPq#0;2;0;0;0\x1b\\a', ['a|']],
    ['a string that is never ended hides its line alone', '\x1b]0;evil\nb', ['', 'b|']],
    ['character sets and keys', '\x1b(0a\x1b)B\x1b=\x1b>\x1b7b', ['ab|']],
    ['a private mode', '\x1b[?1049ha\x1b[>4;2mb', ['ab|']],
    ['a sequence with intermediates', '\x1b[2 qa\x1b[!pb', ['ab|']],
    ['a sequence without end', 'a\x1b[31\nb', ['a|', 'b|']],
    ['a very long sequence', `\x1b[${'1;'.repeat(500)}ma`, ['a|']],
  ]
  for (const [name, text, lines] of cases) {
    t.test(name, async (t) => t.strictSame(ansiLines(text).map(runsOf), lines))
  }
})

t.test('however the output is cut, the lines are the same', async (t) => {
  fc.assert(
    fc.property(output, fc.array(fc.nat(), { maxLength: 8 }), (text, cuts) => {
      const reader = createAnsiReader()
      const lines = chunked(text, cuts).flatMap((chunk) => {
        const finished = reader.write(chunk)
        reader.open()
        return finished
      })
      const last = reader.open()
      const found = last ? [...lines, last] : lines
      t.strictSame(found.map(runsOf), ansiLines(text).map(runsOf), JSON.stringify([text, cuts]))
    }),
    { numRuns: 40 },
  )
})

t.test('nothing of a sequence, and no control character, is left in a line', async (t) => {
  fc.assert(
    fc.property(output, (text) => {
      for (const { runs } of ansiLines(text)) {
        for (const run of runs) t.notMatch(run.text, /[\0-\x08\x0a-\x1f\x7f-\x9f\u202e]/)
      }
    }),
    { numRuns: 40 },
  )
})

t.test('a style is selected from scratch by its key', async (t) => {
  const parameters = fc.array(
    fc.oneof(
      fc.constantFrom('38;5;200', '48;2;1;2;3', '7', '22', '39', '0', ''),
      fc.nat(110).map(String),
    ),
    { maxLength: 6 },
  )
  fc.assert(
    fc.property(parameters, (codes) => {
      const style = nextStyle(PLAIN, codes.join(';'))
      t.strictSame(nextStyle(PLAIN, style.key), style, codes.join(';'))
    }),
  )
})

t.test('the browser gets colours of no class as they are', async (t) => {
  const look = (parameters: string) => lookOf(nextStyle(PLAIN, parameters))
  t.strictSame(look('1;31'), { classes: ['bold', 'fg-1'] })
  t.strictSame(look('38;5;196'), { classes: [], color: 'rgb(255, 0, 0)' })
  t.strictSame(look('38;5;244;48;2;1;2;3'), {
    classes: [],
    color: 'rgb(128, 128, 128)',
    background: 'rgb(1, 2, 3)',
  })
  t.strictSame(look('7;38;2;1;2;3'), { classes: ['inverse'], background: 'rgb(1, 2, 3)' })
})

t.test('as HTML it is escaped, and its text is the output', async (t) => {
  t.equal(
    ansiHtml('<b>&"\n\x1b[1;31m<script>\x1b[0m\n'),
    '&lt;b&gt;&amp;&quot;\n<span class="bold fg-1">&lt;script&gt;</span>\n',
  )
  t.equal(
    ansiHtml('a'.repeat(40_000)),
    `${'a'.repeat(40_000)}\n`,
    'a wrapped line gets no line end',
  )
})

t.test('on a terminal', async (t) => {
  const cases: [string, string, string, string][] = [
    ['colours', 'a\x1b[31mb\x1b[0mc', 'a\x1b[0;31mb\x1b[0mc', 'abc'],
    ['a colour over lines', '\x1b[31ma\nb', '\x1b[0;31ma\x1b[0m\n\x1b[0;31mb\x1b[0m', 'a\nb'],
    ['of 256 colours', '\x1b[38;5;200ma', '\x1b[0;38;5;200ma\x1b[0m', 'a'],
    ['a progress bar', '\r1%\r2%\r\nx', '1%\n2%\nx', '1%\n2%\nx'],
    ['a blank line', 'a\n\nb', 'a\n\nb', 'a\n\nb'],
    ['backspace and bell', 'a\b\x07', 'a␈␇', 'a␈␇'],
    ['cursor, screen, title, clipboard', '\x1b[H\x1b[2J\x1b]0;x\x07\x1b]52;c;eA==\x07a', 'a', 'a'],
    ['a query', '\x1b[6n\x1b[c\x1bP+q\x1b\\a', 'a', 'a'],
    ['C1', '\x9b2J\x9d0;x\x9ca', 'a', 'a'],
    ['hidden text', '\x1b[8ma', 'a', 'a'],
    ['what runs backwards', '\u202ea', '[U+202E]a', '[U+202E]a'],
    ['a sequence cut off', 'a\x1b[3', 'a', 'a'],
  ]
  for (const [name, text, colored, plain] of cases) {
    t.test(name, async (t) => {
      t.equal(createTerminalFilter({ colors: true })(text), colored)
      t.equal(createTerminalFilter({ colors: false })(text), plain)
    })
  }
  t.test('chunks cut anywhere print the same, and each ends in plain style', async (t) => {
    fc.assert(
      fc.property(output, fc.array(fc.nat(), { maxLength: 5 }), (text, cuts) => {
        const plain = createTerminalFilter({ colors: false })
        const colored = createTerminalFilter({ colors: true })
        const parts = chunked(text, cuts).map((chunk) => colored(chunk))
        for (const part of parts) {
          const sequences = part.match(/\x1b\[[\d;]*m/g) ?? []
          t.equal(sequences.at(-1) ?? '\x1b[0m', '\x1b[0m')
        }
        const all = chunked(text, cuts)
          .map((chunk) => plain(chunk))
          .join('')
        t.equal(all, createTerminalFilter({ colors: false })(text))
        t.equal(parts.join('').replace(/\x1b\[[\d;]*m/g, ''), all)
        t.notMatch(all, /[\0-\x08\x0b-\x1f\x7f-\x9f]/)
      }),
      { numRuns: 40 },
    )
  })
})

t.test('a line is split where it is longer than 16,384 characters', async (t) => {
  const lengths = (count: number) =>
    ansiLines('x'.repeat(count)).map(({ runs, wrapped }) => `${runs[0]?.text.length} ${wrapped}`)
  t.strictSame(lengths(16_384), ['16384 false'])
  t.strictSame(lengths(16_385), ['16384 true', '1 false'])
  const reader = createAnsiReader()
  reader.write('🙂'.slice(0, 1))
  reader.write('e', 'stderr')
  t.equal(reader.write(`${'🙂'.slice(1)}\n`)[0]?.runs[0]?.text, 'e🙂', 'half a character waits')
})

t.test('what one stream leaves open takes nothing of the other', async (t) => {
  const reader = createAnsiReader()
  const lines = [
    ...reader.write('\x1b[31mred\n\x1b]0;a title that nobody ends'),
    ...reader.write('seen \x1b[1', 'stderr'),
    ...reader.write('\nred\n'),
    ...reader.write('mbold\n', 'stderr'),
  ]
  t.strictSame(lines.map(runsOf), ['red|fg-1', 'seen |', 'red|fg-1', 'bold|bold'])
})
