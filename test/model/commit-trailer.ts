import t from 'tap'
import { readTrailers } from '../../src/model/commit-trailer.ts'

const CASE = 'ce7b2a45-e46d-4e89-a0e7-e36f34e00761'
const VALUE = `${CASE}/2 plan=3f1c09ab77d2`
const LINE = `Casefile-Session: ${VALUE}`
const TRAILER = { case_id: CASE, session: 2, plan: '3f1c09ab77d2' }

t.test('a trailer is read anywhere in a message', async (t) => {
  for (const [index, message] of [
    `Price\n\n${LINE}`,
    `Price\r\n\r\n${LINE}\r\n\r\nmore`,
    `Squash\n\n* Price\n    ${LINE}\n> ${LINE}\n- casefile-session:${VALUE}  `,
    ...['\v', '\f', '\u0085', '\u2028', '\u2029'].flatMap((end) => [
      `Price${end}${LINE}`,
      `Price\n\n${LINE}${end}`,
    ]),
  ].entries()) {
    t.strictSame(readTrailers(message), [{ text: VALUE, trailer: TRAILER }], `message ${index}`)
  }
})

t.test('a line that git or a person may take for a trailer is a bad one', async (t) => {
  const lines = [
    'Casefile-Session: the first',
    `Casefile-Session : ${VALUE}`,
    `Casefile-Session\t:${VALUE}`,
    `Casefile-Session=${VALUE}`,
    `Casefile-Session ${VALUE}`,
    `Casefile-Sessions: ${VALUE}`,
    `# ${LINE}`,
    `1. ${LINE}`,
    `| ${LINE}`,
    `\`${LINE}\``,
    `\u200b${LINE}`,
    `\u200bCasefile\u200b-Ses\u2060sion: ${VALUE}`,
    `Casefile\u2028-Session: ${VALUE}`,
    `Casefile-Session\u2028: ${VALUE}`,
    `Casefile-Session\v: ${VALUE}`,
    `Casefile\0-Session: ${VALUE}`,
    `C\u0430sefile-Session: ${VALUE}`,
    `\u0421\u0410\u0405\u0415FILE-SESSION: ${VALUE}`,
    `Casefil\u0435-S\u0435ssi\u043en: ${VALUE}`,
    `CasefiIe-Session: ${VALUE}`,
    `Casef1le-Sessi0n: ${VALUE}`,
    `C\u0301asefile-Session: ${VALUE}`,
    `Casefile\u2010Session: ${VALUE}`,
    `Casefile\u2011Session: ${VALUE}`,
    `Casefile\u2212Session: ${VALUE}`,
    `Casefile\u00adSession: ${VALUE}`,
    `Casefile_Session: ${VALUE}`,
    `Casefile-Session\uff1a ${VALUE}`,
    `Casefile-Session\u2236 ${VALUE}`,
    `\uff23\uff41\uff53\uff45\uff46\uff49\uff4c\uff45-Session: ${VALUE}`,
    `\u{1d402}asefile-Session: ${VALUE}`,
    `Casefile-Session: ${VALUE}\u200b`,
    `Casefile-Session: ${VALUE.replace('-', '\u2010')}`,
    `Casefile-Session: ${VALUE} and more`,
  ]
  for (const [index, line] of lines.entries()) {
    const read = readTrailers(`Price\n\n${line}\n\nMore`)
    t.match(read, [{ trailer: null }], `line ${index}`)
    t.equal(read.length, 1, `line ${index}`)
  }
})

t.test('other text is none', async (t) => {
  for (const line of [
    'Casefile-Session',
    'Casefile-Session is the key of the trailer.',
    `The line is ${LINE}`,
    'Casefile session: the service names it',
    'Casefile: the session names it',
    'Casefile-Sessionary: none',
    '\u200b'.repeat(100_000),
    '- '.repeat(100_000),
  ]) {
    t.strictSame(readTrailers(`Price\n\n${line}`), [], JSON.stringify(line.slice(0, 5)))
  }
})
