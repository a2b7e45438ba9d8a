import t from 'tap'
import { fuzzyScore, questionScore } from '../../src/model/fuzzy.ts'

function order(query: string, texts: string[]): string[] {
  return texts
    .map((text) => ({ text, score: fuzzyScore(query, text) }))
    .filter((each): each is { text: string; score: number } => each.score !== null)
    .sort((a, b) => b.score - a.score)
    .map(({ text }) => text)
}

t.test('a few letters in order are enough', async (t) => {
  t.ok(fuzzyScore('lgn', 'Login fails'))
  t.ok(fuzzyScore('LGN fails', 'Login fails'), 'in any case, each word for itself')
  t.equal(fuzzyScore('nlg', 'Login fails'), null, 'not in another order')
  t.equal(fuzzyScore('login xyz', 'Login fails'), null, 'all words')
  t.not(fuzzyScore('', 'anything'), null)
  t.equal(fuzzyScore('lgn', `l${'x'.repeat(50)}g${'x'.repeat(50)}n`), null, 'not far apart')
})

t.test('what is meant comes first', async (t) => {
  t.strictSame(order('login', ['The login page', 'Blogging in', 'Login']), [
    'Login',
    'The login page',
    'Blogging in',
  ])
  t.strictSame(order('nc', ['Fencing', 'New case']), ['New case', 'Fencing'])
})

t.test('a question finds what has most of its words', async (t) => {
  const texts = ['Agents', 'How do I undo', 'Start an agent in a terminal', 'The port is in use']
  const found = texts
    .map((text) => ({ text, score: questionScore('how do I start an agent?', text) }))
    .filter(({ score }) => score !== null)
    .sort((a, b) => b.score! - a.score!)
  t.strictSame(
    found.map(({ text }) => text),
    ['Start an agent in a terminal', 'Agents'],
  )
})
