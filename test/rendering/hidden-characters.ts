import { execFileSync } from 'node:child_process'
import t from 'tap'
import { visibleText as visibleInTerminal } from '../../src/model/visible-text.ts'
import {
  copiedName,
  visibleName,
  visibleOutput,
  visibleProse,
  visibleText,
} from '../../src/rendering/hidden-characters.ts'

const at = (code: number) => String.fromCodePoint(code)

t.test('what is decided on hides nothing that the terminal shows', async (t) => {
  const missed: string[] = []
  // the planes between hold letters alone
  for (let code = 0; code <= 0xe0fff; code += code === 0x1ffff ? 0xc0001 : 1) {
    const isShown = visibleText(at(code)) !== at(code)
    const isBlank = code === 0x09 || code === 0x0a
    const isShownInTerminal = visibleInTerminal(at(code)) !== at(code)
    if (isShown !== (isShownInTerminal && !isBlank)) missed.push(code.toString(16))
  }
  t.strictSame(missed, [])
})

t.test('how it is shown', async (t) => {
  for (const [text, shown] of [
    ['a\tb\nc d', 'a\tb\nc d'],
    ['a\rb\0\x1b[0m\x7f', 'a␍b␀␛[0m␡'],
    ['a\u3164b\u200c\u00a0', 'a[U+3164]b[U+200C][U+00A0]'],
    ['\u{e0101}\ufe0f', '[U+E0101][U+FE0F]'],
    ['größe 日本 🙂', 'größe 日本 🙂'],
    [`e${'\u0301'.repeat(7)}`, `e${'\u0301'.repeat(5)}[U+0301][U+0301]`],
  ] as const)
    t.equal(visibleText(text), shown)
})

t.test('a name shows its line ends, and is pasted as one word that does nothing', async (t) => {
  t.equal(visibleName('a.sh\ntouch x\t\r\x1b#'), 'a.sh␊touch x␉␍␛#')
  for (const name of ['src/größe 日本.ts', "it's $(id).ts"]) t.equal(copiedName(name), name)
  for (const name of ["a.sh\ntouch x'$(id)\\\x1b[0m\x9b#", 'a\u202e\u{e0041}é\u00a0b', 'a\n2\t']) {
    const copied = copiedName(name)
    t.equal(visibleName(copied), copied)
    const said = execFileSync('bash', ['-c', `printf %s ${copied}`], { encoding: 'utf8' })
    t.equal(said, name)
  }
})

t.test('output and prose may have what is of use there', async (t) => {
  const output = '⚠\ufe0f 10\u00a0000 \u2003 \ue0b0 👩\u200d💻'
  t.equal(visibleOutput(output), output)
  t.equal(visibleOutput('a\u202eb\u200b\x07'), 'a[U+202E]b[U+200B]␇')
  const prose = [
    'می\u200cخواهم 10\u00a0000 ⚠\ufe0f 1\ufe0f\u20e3 \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '👩🏽\u200d💻 👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 🇩🇪 क\u094d\u200dष ශ\u0dca\u200dරී ᠨ\u180e שלום\u200f! ⠓\u2800⠊ a\r\nb\tc',
  ]
  prose.push('שָּׁ֣ ណ្ដឹ བསྒྲུབ ế')
  for (const text of prose) t.equal(visibleProse(text), text)
  t.equal(visibleProse('a\u202eb\u{e0041}'), 'a[U+202E]b[U+E0041]')
  t.equal(visibleProse(`e${'\u0336'.repeat(6)}`), `e${'\u0336'.repeat(5)}[U+0336]`)
})

t.test('prose hides no message to a program', async (t) => {
  const rows: [name: string, text: string][] = [
    ['variation selectors supplement', '\u{e0151}\u{e015c}'],
    ['variation selectors', '\ufe00\ufe0f'],
    ['tags', '\u{e0001}\u{e0041}\u{e007f}'],
    ['invisible operators', '\u2061\u2062\u2063\u2064'],
    ['zero width', '\u200b\u200c\u200d\u2060\ufeff'],
    ['direction', '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'],
    ['fillers of Hangul', '\u115f\u1160\u3164\uffa0'],
    ['Mongolian selectors', '\u180b\u180c\u180d\u180e\u180f'],
    ['soft hyphen, grapheme joiner', '\u00ad\u034f'],
    ['ends of lines and paragraphs', '\u0085\u2028\u2029'],
    ['annotations, and formats of music and shorthand', '\ufff9\ufffa\ufffb\u{1d173}\u{1bca0}'],
    ['C0 and C1', '\0\x07\x1b\x7f\x80\x9b'],
    ['blank Braille', '\u2800'],
    ['private use', '\ue000\u{f0000}'],
  ]
  for (const [name, text] of rows) {
    t.test(name, async (t) => {
      const shown = visibleText(text)
      for (const before of ['Run the tests', 'é', '日', '1']) {
        t.equal(visibleProse(`${before}${text} and`), `${before}${shown} and`)
      }
    })
  }
  t.equal(visibleProse('🙂\ufe0f\ufe0f\u{e0151}'), '🙂\ufe0f[U+FE0F][U+E0151]')
  t.equal(visibleProse('a\u061c\u200f b'), 'a[U+061C][U+200F] b')
  t.equal(visibleProse('می\u200c\u200cخ'), 'می[U+200C][U+200C]خ')
  t.equal(visibleProse('🙂\u200d x 🏴\u{e0067}\u{e007f}'), '🙂[U+200D] x 🏴[U+E0067][U+E007F]')
})
