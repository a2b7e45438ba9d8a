import t, { type Test } from 'tap'
import type { FoundCaseJson } from '../../src/http/schemas/search.ts'
import { must } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const find = async (q: string, more = ''): Promise<FoundCaseJson[]> =>
  (await app.request('GET', `/search?q=${encodeURIComponent(q)}${more}`)).json
const titles = async (q: string, more = '') => (await find(q, more)).map(({ title }) => title)

async function makeCases(t: Test, cases: Record<string, string>): Promise<void> {
  for (const [title, description] of Object.entries(cases)) {
    const { id } = await app.newCase({ title, description })
    t.teardown(() => must(app, 'DELETE', `/cases/${id}`))
  }
}

t.test(
  'a word in the title counts most, then where it is often, then tags before text before proof',
  async (t) => {
    await makeCases(t, {
      Text: 'The swimming is too far from here.',
      Swimming: 'Something else.',
      Often: 'Swimming swimming swimming is too far.',
      None: 'Nothing of this.',
    })
    const [proof, tags] = [
      await app.newCase({ title: 'Proof' }),
      await app.newCase({ title: 'Tags', tags: ['swimming'] }),
    ]
    const content = 'The swimming is too far from here.'
    await must(app, 'POST', `/cases/${proof.id}/proof`, { type: 'log', content })
    for (const { id } of [proof, tags]) t.teardown(() => must(app, 'DELETE', `/cases/${id}`))
    const found = await titles('swimming')
    t.equal(found[0], 'Swimming')
    t.equal(found.at(-1), 'Proof')
    t.strictSame([...found].sort(), ['Often', 'Proof', 'Swimming', 'Tags', 'Text'])
    t.ok(found.indexOf('Often') < found.indexOf('Text'), found.join())
    const reply = await app.request('GET', '/search?q=swimming&limit=2')
    t.equal(reply.headers['x-total-count'], '5')
    t.strictSame(
      reply.json.map((each: FoundCaseJson) => each.title),
      found.slice(0, 2),
    )
  },
)

t.test('titles come first, and in each place what was typed before longer words', async (t) => {
  await makeCases(t, {
    Longer: 'It is in darknet modes.',
    'Darknet modes': '-',
    'Dark mode': '-',
    Typed: 'It is in dark mode.',
  })
  t.strictSame(await titles('dark mode'), ['Dark mode', 'Darknet modes', 'Typed', 'Longer'])
})

t.test(
  'where no case has all words, those with most of them, and of these with the rarest',
  async (t) => {
    const many = Array.from({ length: 12 }, (_, n) => [`Common ${n}`, 'It is an error.'])
    await makeCases(t, {
      ...Object.fromEntries(many),
      Rare: 'A wombat.',
      Both: 'An error of a wallaby',
    })
    t.equal((await titles('error wombat zebra'))[0], 'Rare')
    t.match(await find('error wombat zebra'), [{ title: 'Rare', missing: ['error', 'zebra'] }])
    t.match(await find('error wallaby zebra'), [{ title: 'Both', missing: ['zebra'] }])
    t.equal((await titles('error wallaby zebra', '&limit=3')).length, 3, 'of all groups together')
    const { headers, json } = await app.request('GET', '/search?q=error+wombat+zebra&limit=3')
    t.equal(headers['x-total-count'], '14')
    t.match(json, [{ title: 'Rare' }, { missing: ['wombat', 'zebra'] }, {}])
    t.strictSame(await titles('error wombat type:feature'), [])
    t.equal((await titles('error wombat type:bug', '&limit=100')).length, 14)
  },
)

t.test('where a case has all words, those with some are not shown', async (t) => {
  await makeCases(t, { Whole: 'The alphas, the betas.', Part: 'Only alphas.', Other: 'Betas.' })
  t.strictSame(await titles('alpha beta'), ['Whole'])
})

t.test('texts without blanks between words are found by any part of them', async (t) => {
  await makeCases(t, {
    登录失败: '-',
    Done: '终于登录成功了',
    Korean: '서버에 연결할 수 없습니다',
    库存: '-',
    Last: '数据库',
  })
  t.strictSame(await titles('登录成功'), ['Done'])
  t.strictSame(await titles('登录'), ['登录失败', 'Done'])
  t.strictSame(await titles('서버'), ['Korean'])
  t.match(await find('登录成败'), [{ title: 'Done', missing: ['成败'] }, {}])
  t.strictSame((await titles('库')).sort(), ['Last', '库存'])
  t.strictSame(await titles('"录成"'), ['Done'])
})

t.test('a word finds all that begins so, and its parts, with its lines', async (t) => {
  const many = Array.from({ length: 10 }, (_, n) => [`Case ${n}`, 'It says signed.'])
  await makeCases(t, { ...Object.fromEntries(many), Longer: 'Of signedness, in readFile().' })
  t.equal((await titles('signed')).length, 11)
  t.equal((await titles('si')).length, 0, 'from three letters')
  const [{ lines } = { lines: [] }] = await find('file')
  t.match(lines, [{ text: 'Of signedness, in readFile().', marks: [[22, 26]] }])
})
