import t from 'tap'
import { fuzzyScore } from '../../src/model/fuzzy.ts'

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
