import fc from 'fast-check'
import t from 'tap'
import { type CaseIndex, type CaseTexts, createCaseIndex } from '../../src/search/case-index.ts'
import { parseQuery } from '../../src/search/query.ts'
import { isFull } from '../fixtures/full.ts'

const ALL = { fits: () => true, limit: 100, enough: 10 }
const NONE: CaseTexts = { title: '', tags: '', case: '', notes: '', sessions: '', proof: '' }

const QUERIES = ['alpha', 'bet', 'foobar x1', 'fooBar', 'strasse', 'alpha zebra beta']

function ask(index: CaseIndex, query: string, more: Partial<typeof ALL> = {}) {
  return index.find(parseQuery(query).wanted, { ...ALL, ...more })
}
const idsOf = (index: CaseIndex, query: string) => ask(index, query).best.map(({ id }) => id)

const word = fc.constantFrom('alpha', 'alpah', 'beta', 'betas', 'fooBar', 'bar', 'x1', 'Straße')
const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '))
const texts: fc.Arbitrary<CaseTexts> = fc.record({
  ...{ title: text, tags: text, case: text, notes: text, sessions: text, proof: text },
})
const id = fc.constantFrom('a', 'b', 'c', 'd')
const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('put' as const), id, texts }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pack' as const) }) },
)

t.test(
  'whatever was put, replaced, removed and packed, it answers as a new one would',
  async () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
        let index = createCaseIndex()
        const known = new Map<string, CaseTexts>()
        for (const each of actions) {
          if (each.kind === 'pack') index = createCaseIndex(index.pack())
          else if (each.kind === 'remove') {
            index.remove(each.id)
            known.delete(each.id)
          } else {
            index.put(each.id, each.texts)
            known.set(each.id, each.texts)
          }
        }
        const anew = createCaseIndex()
        for (const [id, texts] of known) anew.put(id, texts)
        const answers = (of: CaseIndex) => QUERIES.map((query) => rounded(of, query))
        t.strictSame(answers(index), answers(anew))
        const terms = ['alpha', 'beta', 'bar']
        t.match(index.alike('a', terms, ALL), anew.alike('a', terms, ALL))
      }),
      { numRuns: isFull ? 5000 : 60 },
    )
    function rounded(index: CaseIndex, query: string) {
      const { total, best } = ask(index, query)
      return {
        total,
        best: best.map(({ terms, places, score, ...more }) => ({
          ...{ ...more, score: Math.round(score * 1e6) },
          ...{ terms: [...terms].sort(), places: [...places].sort() },
        })),
      }
    }
  },
)

t.test('the best first', async (t) => {
  const index = createCaseIndex()
  index.put('text', { ...NONE, case: 'the pool is too small' })
  index.put('title', { ...NONE, title: 'Pool' })
  index.put('often', { ...NONE, case: 'pool pool pool is too small' })
  index.put('proof', { ...NONE, proof: 'the pool is too small' })
  index.put('none', { ...NONE, case: 'nothing of it' })
  t.strictSame(idsOf(index, 'pool'), ['title', 'often', 'text', 'proof'])
  const few = ask(index, 'pool', { limit: 2 })
  t.match(few, { total: 4, best: [{ id: 'title' }, { id: 'often' }] })
  t.strictSame([...few.best[0]!.places], ['title'])
  t.equal(ask(index, 'pool', { fits: (id: string) => id !== 'title' } as never).total, 3)
})

t.test('what was typed comes before what is near it, wherever it stands', async (t) => {
  const index = createCaseIndex()
  index.put('typed', { ...NONE, proof: 'dark mode' })
  index.put('one', { ...NONE, title: 'Mode', case: 'darknet' })
  index.put('near', { ...NONE, title: 'Darknet modes' })
  t.strictSame(idsOf(index, 'dark mode'), ['typed', 'one', 'near'])
})

t.test('a word that few have tells more than one that many have', async (t) => {
  const index = createCaseIndex()
  for (let n = 0; n < 50; n++) index.put(`common${n}`, { ...NONE, case: 'error' })
  index.put('rare', { ...NONE, case: 'wombat' })
  t.strictSame(idsOf(index, 'error wombat zebra').slice(0, 1), ['rare'])
  t.match(ask(index, 'error wombat zebra').best[0], { missing: ['error', 'zebra'] })
  t.equal(ask(index, 'error wombat zebra').total, 51)
})

t.test('texts without blanks between words, by any part of them', async (t) => {
  const index = createCaseIndex()
  index.put('failed', { ...NONE, title: '登录失败' })
  index.put('done', { ...NONE, case: '终于登录成功了' })
  index.put('korean', { ...NONE, case: '서버에 연결할 수 없습니다' })
  for (let n = 0; n < 20; n++) index.put(`last${n}`, { ...NONE, case: '数据库' })
  index.put('within', { ...NONE, title: '库存' })
  t.strictSame(idsOf(index, '登录成功'), ['done'])
  t.strictSame(idsOf(index, '登录'), ['failed', 'done'])
  t.strictSame(idsOf(index, '서버'), ['korean'])
  t.match(ask(index, '登录成败').best[0], { id: 'done', missing: ['成败'] })
  t.equal(ask(index, '库').total, 21, 'a character that ends many of them')
})

t.test('slips of the finger', async (t) => {
  const index = createCaseIndex()
  for (const name of ['signed', 'timeout', 'connection', 'v2beta']) {
    index.put(name, { ...NONE, case: name })
  }
  const found: Record<string, string[]> = {
    sigend: ['signed'],
    singed: ['signed'],
    sgined: ['signed'],
    siged: ['signed'],
    tiemout: ['timeout'],
    tmieuot: [],
    connectoin: ['connection'],
    conecton: ['connection'],
    v2beat: [],
  }
  for (const [query, ids] of Object.entries(found)) t.strictSame(idsOf(index, query), ids, query)
})

t.test('of ten thousand changes of one case nothing but the last is kept', async (t) => {
  const index = createCaseIndex()
  for (let n = 0; n < 10_000; n++) index.put('one', { ...NONE, title: `round n${n}` })
  t.match(ask(index, 'round'), { total: 1 })
  t.match(ask(index, 'n9999'), { total: 1 })
  t.match(ask(index, 'n9998'), { total: 0 })
  t.equal(Buffer.from(index.pack().words).toString(), 'round\nn9999')
})
