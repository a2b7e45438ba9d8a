import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { FoundCaseJson } from '../../src/http/schemas/search.ts'
import { inLongLane } from '../fixtures/full.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const find = async (q: string, more = ''): Promise<FoundCaseJson[]> => {
  const reply = await app.request('GET', `/search?q=${encodeURIComponent(q)}${more}`)
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.json
}
const titles = async (q: string, more = '') => (await find(q, more)).map(({ title }) => title)
const note = (id: string, text: string | Uint8Array, name = 'notes.md') =>
  must(app, 'PUT', `/cases/${id}/memory/${name}`, text as never)

let login = ''
await t.test('the cases of these tests', async () => {
  const made = await app.newCase({
    title: 'Login times out under load',
    tags: ['auth'],
    description:
      'Since the release the server answers ECONNRESET.\n\nSee src/http/request-body.ts, foo_bar.',
  })
  login = made.id
  await app.newCase({
    title: 'Export as CSV',
    type: 'feature',
    description: 'Müller wants 日本語.',
  })
  await app.newCase({ title: 'Slow list', description: 'The login page is not slow.' })
})

t.test('it finds', async (t) => {
  const [all, first, csv] = [
    ['Login times out under load', 'Slow list'],
    ['Login times out under load'],
    ['Export as CSV'],
  ]
  const queries: [q: string, titles: string[]][] = [
    ...([
      ['login', all],
      ['LOGIN', all],
      ['logi', all],
      ['lgoin', []],
    ] as const),
    ...([
      ['the login times', first],
      ['econnreset', first],
    ] as const),
    ...([
      ['src/http/request-body.ts', first],
      ['body.ts', first],
      ['foo_bar', first],
    ] as const),
    ...([
      ['muller', csv],
      ['MÜLLER', csv],
      ['本語', csv],
      ['日', csv],
      ['語', csv],
    ] as const),
    ...([
      ['csv tag:auth', []],
      ['type:feature', csv],
      ['login tag:auth', first],
    ] as const),
    ...([
      ['login state:open', all],
      ['login state:RESOLVED', []],
      ['constructor', []],
    ] as const),
    [login.slice(0, 8), first],
  ].map(([q, found]) => [q as string, [...(found as string[])]])
  for (const [q, found] of queries) t.strictSame(await titles(q), found, q)
})

t.test('what stands in quotation marks is found word for word', async (t) => {
  const { id } = await app.newCase({
    title: 'Quoted',
    description:
      'It says "Cannot read\nproperties" of  the user’s profile.\n\n東京都で readFile() failed.\n\nNobody can read it.',
  })
  const queries: [q: string, isFound: boolean][] = [
    ['"cannot READ"', true],
    ['"read properties of the"', true],
    ['"properties read"', false],
    ['"of the"', true],
    ['"the of"', false],
    ['"user\'s profile"', true],
    ['"京都"', true],
    ['"readfile failed"', true],
    ['"annot read"', false],
    ['"profil"', false],
    ['“cannot read” quoted', true],
    ['"cannot read" "京都で"', true],
    ['"cannot read" "properties read"', false],
    ['"cannot read" qouted', true],
    ['"cannot read" zebra', true],
    ['"cannot zebra" says', false],
    ['"cannot read" state:RESOLVED', false],
    ['"cannot says read', true],
  ]
  for (const [q, isFound] of queries) t.strictSame(await titles(q), isFound ? ['Quoted'] : [], q)
  const [found] = await find('"cannot read" zebra')
  t.strictSame(found?.missing, ['zebra'])
  t.match(found?.lines[0]?.text, 'Cannot read')
  const [whole] = await find('"cannot read"')
  t.strictSame(
    whole?.lines.map((each) => each.text),
    ['It says "Cannot read'],
    'a line that has but some of its words is not shown',
  )
  await must(app, 'PUT', `/cases/${id}`, { description: 'It may read files.' })
  t.strictSame(await titles('"cannot read"'), [])
  t.strictSame(await titles('"may read"'), ['Quoted'])
  await must(app, 'DELETE', `/cases/${id}`)
})

t.test('each with the lines of its files, as they are', async (t) => {
  const [found] = await find('econnreset body')
  const file = `memory/cases/${login}/case.md`
  const text = readFileSync(join(app.root, file), 'utf8').split('\n')
  t.match(found, { id: login, type: 'bug', state: 'OPEN', tags: ['auth'], missing: [] })
  t.ok(found!.score > 0)
  t.strictSame(
    found!.lines.map((each) => [each.file, each.line, each.text]),
    [
      text.findIndex((line) => line.includes('ECONN')),
      text.findIndex((line) => line.includes('foo_')),
    ].map((index) => [file, index + 1, text[index]]),
  )
  const [{ text: line, marks }] = found!.lines as [FoundCaseJson['lines'][0]]
  t.equal(line.slice(...marks[0]!), 'ECONNRESET')
})

t.test('where no case has all words, those with some say what they are without', async (t) => {
  const [best] = await find('login zebra times')
  t.match(best, { id: login, missing: ['zebra'] })
})

t.test('a case with a line as it was pasted comes first, whatever the limit', async (t) => {
  const pasted = 'at readBody (src/reader.ts:12:7)'
  const one = await app.newCase({ title: 'Reader.ts', description: '12 src, 7 at readBody' })
  const other = await app.newCase({ title: 'Crash', description: `Since noon:\n\n    ${pasted}` })
  t.strictSame(await titles(pasted), ['Crash', 'Reader.ts'])
  t.strictSame(await titles(pasted, '&limit=1'), ['Crash'])
  t.strictSame(await titles('reader.ts 12'), ['Reader.ts', 'Crash'], 'two words may well be chance')
  for (const { id } of [one, other]) await must(app, 'DELETE', `/cases/${id}`)
})

t.test('filters beside the query, and a limit', async (t) => {
  t.strictSame(await titles('login', '&tag=auth'), ['Login times out under load'])
  t.strictSame(await titles('login', '&tag=other&tag=auth'), ['Login times out under load'])
  t.strictSame(await titles('login tag:auth', '&tag=other'), [])
  const reply = await app.request('GET', '/search?q=login&limit=1')
  t.equal(reply.headers['x-total-count'], '2')
  t.equal(reply.json.length, 1)
})

t.test('a query that cannot be answered says why', async (t) => {
  const wrong: [query: string, detail: RegExp][] = [
    ['', /^q: expected a word to look for/],
    ['q=%20', /^q: expected a value; it is empty/],
    ['q=a&state=', /^state: expected a value; it is empty/],
    ['q=a&limit=0', /^limit: expected a whole number from 1 to 100; got "0"/],
    ['q=a&limit=many', /^limit: /],
    ['q=a&state=OPN', /no case state "OPN"/],
    ['q=state:opn', /no case state "opn"/],
  ]
  for (const [query, detail] of wrong) {
    t.match(await app.request('GET', `/search?${query}`), { status: 400, json: { detail } }, query)
  }
})

t.test('what is changed, by request or by hand, is found at once', async (t) => {
  t.strictSame(await titles('marmalade'), [])
  await note(login, 'It smells of marmalade.\n')
  t.match(await find('marmalade'), [{ id: login, lines: [{ file: /notes\.md$/, line: 1 }] }])
  writeFileSync(app.file(login, 'notes.md'), 'It smells of petrichor.\n')
  let found = await titles('petrichor')
  while (found.length === 0) found = await titles('petrichor') // the watcher's bound
  t.strictSame(await titles('marmalade'), [])
  unlinkSync(app.file(login, 'notes.md'))
})

t.test('whatever changes while others search, the next search finds what is there', async (t) => {
  const { id } = await app.newCase({ title: 'Restless' })
  const searches: Promise<unknown>[] = []
  for (const word of ['umbra', 'penumbra', 'umbra', 'antumbra', 'umbra', 'penumbra']) {
    searches.push(find('umbra'), find('Restless'))
    await must(app, 'PUT', `/cases/${id}`, { description: `It is ${word}.` })
    searches.push(find('"penumbra"'))
    t.strictSame(await titles(`"${word}"`), ['Restless'], word)
  }
  await Promise.all(searches)
  for (const word of ['umbra', 'antumbra']) t.strictSame(await titles(`"${word}"`), [], word)
  const reply = await app.request('GET', '/search?q=Restless')
  t.equal(reply.headers['x-total-count'], '1')
  const deleted = find('"penumbra"')
  await must(app, 'DELETE', `/cases/${id}`)
  await deleted
  t.strictSame(await titles('restless'), [])
})

t.test('a query of very many words is answered', async (t) => {
  const sentence = String.fromCodePoint(...Array.from({ length: 900 }, (_, i) => 0x4e00 + i))
  t.strictSame(await titles(`${sentence} 日本`), ['Export as CSV'])
  t.strictSame(await titles(`"${sentence}"`), [])
  const names = Array.from({ length: 31 }, (_, n) => `some_foo.${n}`).join(' ')
  t.strictSame(await titles(`${names} foo_bar`), ['Login times out under load'])
})

t.test('sessions and proof are found too, the trail is not', async (t) => {
  const session = await planned(app, {
    fields: { title: 'With a session' },
    runbook: step('echo quokka-is-there; exit 1'),
  })
  await finished(app, session)
  const { id } = await must(app, 'POST', `/cases/${session.case_id}/proof`, {
    type: 'log',
    content: 'first line\nseen a wombat\n',
  })
  const files = async (q: string) =>
    (await find(q)).flatMap(({ lines }) => lines.map((l) => l.file))
  t.match(await files('quokka'), [/runbook\.md$/, /sessions\/1\.md$/, /sessions\/1\.md$/])
  t.match(await files('wombat'), [new RegExp(`proof/${id}\\.md$`)])
  t.strictSame(await find('context_loaded'), [])
  const copy = 'conflict-20261120T095400.000Z.md'
  for (const name of [`sessions/1.${copy}`, `proof/${id}.${copy}`, `notes.${copy}`])
    writeFileSync(app.file(session.case_id, name), 'an echidna\n')
  t.strictSame(await find('echidna'), [], 'and no other version of a file')
})

t.test('texts that mean harm cost little, and hide nothing else', inLongLane, async (t) => {
  const { id } = await app.newCase({ title: 'Hostile' })
  const words = Array.from({ length: 10_000 }, (_, i) => `w${i.toString(36)}q`).join(' ')
  writeFileSync(app.file(id, 'many.md'), `findme ${words}`)
  writeFileSync(app.file(id, 'long.md'), `${'x'.repeat(2 ** 20)} beyond`)
  writeFileSync(app.file(id, 'binary.md'), Buffer.from([0x62, 0x61, 0xff, 0x00, 0x62]))
  writeFileSync(app.file(id, 'proto.md'), '__proto__ constructor hasOwnProperty\n')
  for (const q of ['findme', 'hasownproperty', 'proto constructor']) {
    let found = await titles(q)
    while (found.length === 0) found = await titles(q)
    t.strictSame(found, ['Hostile'], q)
  }
  t.strictSame(await titles('beyond'), [], 'of a long file the first 256 KiB are searched')
  await must(app, 'DELETE', `/cases/${id}`)
})
