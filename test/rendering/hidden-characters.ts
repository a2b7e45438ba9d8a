import t from 'tap'
import { visibleText as visibleInTerminal } from '../../src/model/visible-text.ts'
import { visibleOutput, visibleProse, visibleText } from '../../src/rendering/hidden-characters.ts'

const at = (code: number) => String.fromCodePoint(code)

t.test('what is decided on hides nothing that the terminal shows', async (t) => {
  const missed: string[] = []
  for (let code = 0; code <= 0x10ffff; code++) {
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
  ] as const)
    t.equal(visibleText(text), shown)
})

t.test('output and prose may have what is of use there', async (t) => {
  const output = '⚠\ufe0f 10\u00a0000 \u2003 \ue0b0 👩\u200d💻'
  t.equal(visibleOutput(output), output)
  t.equal(visibleOutput('a\u202eb\u200b\x07'), 'a[U+202E]b[U+200B]␇')
  const prose = 'می\u200cخواهم 10\u00a0000 ⚠\ufe0f'
  t.equal(visibleProse(prose), prose)
  t.equal(visibleProse('a\u202eb\u{e0041}'), 'a[U+202E]b[U+E0041]')
})
