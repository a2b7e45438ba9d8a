import fc from 'fast-check'
import t from 'tap'
import { textToEdit, textToSave } from '../../src/web/memory/client/memory-lines.ts'
import { anyCharacter } from '../fixtures/any-character.ts'

const kept: { name: string; original: string; edited: string; result: string }[] = [
  {
    name: 'a file with CRLF stays one, in new lines too',
    original: 'a\r\nb\r\n',
    edited: 'a\nnew\nb\n',
    result: 'a\r\nnew\r\nb\r\n',
  },
  { name: 'a file with LF stays one', original: 'a\nb\n', edited: 'b\n', result: 'b\n' },
  {
    name: 'in a mixed file each line keeps its own end',
    original: 'a\r\nb\nc\r\nd\n',
    edited: 'a\nc\nd, changed\n',
    result: 'a\r\nc\r\nd, changed\n',
  },
  {
    name: 'a byte order mark stays',
    original: '\ufeff# Notes\r\n',
    edited: '# Notes\nmore\n',
    result: '\ufeff# Notes\r\nmore\r\n',
  },
  {
    name: 'a line end that is missing at the end stays missing',
    original: 'a\r\nb',
    edited: 'a\nc',
    result: 'a\r\nc',
  },
  {
    name: 'a line behind one without an end gives it the usual one',
    original: 'a\r\nb\r\nlast',
    edited: 'a\nb\nlast\nmore',
    result: 'a\r\nb\r\nlast\r\nmore',
  },
  {
    name: 'a lone CR and the LF of an empty line do not become one',
    original: 'a\rb\n\n',
    edited: 'a\n\n',
    result: 'a\r\n\n',
  },
  { name: 'an empty file gets LF', original: '', edited: 'a\nb\n', result: 'a\nb\n' },
]

t.test('what an editor of plain lines gives back to the file', async (t) => {
  for (const { name, original, edited, result } of kept)
    await t.test(name, async (t) => {
      t.equal(textToSave(original, edited), result)
    })
})

const line = fc.stringMatching(/^[abc #]{0,3}$/)
const end = fc.constantFrom('\n', '\r\n', '\r')
const fileText = fc
  .tuple(fc.constantFrom('', '\ufeff'), fc.array(fc.tuple(line, end)), line)
  .map(([mark, lines, last]) => mark + lines.map((each) => each.join('')).join('') + last)
const editedText = fc.array(line).map((lines) => lines.join('\n'))

t.test('a text that was not touched is written as it was, whatever its line ends', async (t) => {
  fc.assert(
    fc.property(fileText, (text) => {
      t.equal(textToSave(text, textToEdit(text)) === text, true, JSON.stringify(text))
    }),
    { numRuns: 300 },
  )
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => isKept(text)))
})

t.test('what was typed is what is in the file, but for the line ends', async () => {
  fc.assert(
    fc.property(
      fileText,
      editedText,
      (text, edited) => textToEdit(textToSave(text, edited)) === edited,
    ),
    { numRuns: 500 },
  )
})

function isKept(text: string): boolean {
  return textToSave(text, textToEdit(text)) === text
}
