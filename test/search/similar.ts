import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { type ResolvedCase, similarResolvedCases } from '../../src/sessions/context.ts'
import { textOf } from '../fixtures/page-text.ts'
import { agentFiles, LIST_PLAN, plannedOn, says } from '../fixtures/plain-agents.ts'
import { finished, git, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const files = agentFiles({ mine: { plan: says(LIST_PLAN) } })
const app = await openTestService(t, { files, trust: true })
git(app.root, 'init', '--quiet')

async function similarTo(id: string): Promise<readonly ResolvedCase[]> {
  await app.service.refresher.freshenAll()
  return similarResolvedCases(app.service, id, 5)
}
const pageOf = async (id: string) => (await app.request('GET', `/case/${id}`)).text

let [solved, open] = ['', '']
await t.test('the cases of these tests', async () => {
  await app.newCase({ title: 'Export as CSV', description: 'Rows, with a header.' })
  const session = await planned(app, {
    fields: {
      title: 'Login times out while the connection pool is exhausted',
      description:
        '## Hypothesis\n\nThe pool has one connection.\n\nThe server answers ECONNRESET under load.',
    },
    runbook: step('true'),
  })
  await finished(app, session)
  solved = session.case_id
  open = (
    await app.newCase({
      title: 'Login answers ECONNRESET, the pool is exhausted',
      description: 'Under load the connection times out.',
    })
  ).id
})

t.test('nothing resembles it before it is resolved', async (t) => {
  t.strictSame(await similarTo(open), [])
})

t.test('a resolved case says its outcome, its cause and its proof', async (t) => {
  const proof = await must(app, 'POST', `/cases/${solved}/proof`, { type: 'log', content: 'seen' })
  await must(app, 'PUT', `/cases/${solved}/proof/${proof.id}/verify`)
  await must(app, 'PUT', `/cases/${solved}/state`, {
    state: 'RESOLVED',
    outcome: 'ConfirmedConfigBug',
    reason: 'The pool was too small.',
  })
  const found = await similarTo(open)
  t.match(found, [
    {
      id: solved,
      state: 'RESOLVED',
      outcome: 'ConfirmedConfigBug',
      reason: 'The pool was too small.',
      cause: /The pool has one connection/,
      proof: [{ id: proof.id, type: 'log' }],
    },
  ])
  t.equal(found.length, 1)
  t.strictSame(await similarTo(solved), [], 'but not itself')
  const { score, words } = found[0]!
  t.ok(score > 0.08 && score <= 1, String(score))
  t.ok(words.includes('pool') && words.includes('econnreset'), words.join())
})

t.test('hashes and ids that no other case has hide no likeness', async (t) => {
  const ids = Array.from({ length: 40 }, (_, n) => `${n} ${hash('sha256', String(n))}`)
  const { id } = await app.newCase({
    title: 'Login times out while the connection pool is exhausted',
    description: ids.join('\n'),
  })
  t.match(await similarTo(id), [{ id: solved }])
})

t.test('the page of an open case shows it, that of a closed one does not', async (t) => {
  const page = textOf(await pageOf(open), 'similar')
  for (const part of [
    'Similar resolved cases',
    'Login times out while',
    'The pool was too small.',
  ]) {
    t.ok(page.includes(part), part)
  }
  t.notMatch(await pageOf(solved), 'id="similar"')
})

t.test('an agent is told of it', async (t) => {
  await plannedOn(app, open, 'mine')
  const prompt = readFileSync(app.file(open, 'artifacts', '1-plan-prompt.md'), 'utf8')
  t.match(prompt, /# Resolved cases like this one\n[^#]*Outcome: ConfirmedConfigBug\n/)
  t.match(
    readFileSync(app.file(open, 'sessions', '1.md'), 'utf8'),
    /context_loaded .*similar cases/,
  )
})

t.test('a case that is deleted is remembered no more', async (t) => {
  await must(app, 'DELETE', `/cases/${solved}`)
  t.strictSame(await similarTo(open), [])
})
