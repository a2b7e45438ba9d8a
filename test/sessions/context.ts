import t from 'tap'
import { promptContext } from '../../src/sessions/context.ts'
import { createRedactor } from '../../src/sessions/redaction.ts'

t.test('an agent gets the newest sessions, and waits only so long for similar cases', async (t) => {
  const logged: string[] = []
  const about = { id: 'c1', title: 'Slow logins', type: 'bug', description: '', checklist: [] }
  const sessions = Array.from({ length: 12 }, (_, at) => ({
    number: at + 1,
    type: 'planning',
    provider: 'mine',
    state: at === 8 ? 'plan_ready' : 'failed',
    failed_tests: [],
    trail: [],
  }))
  const folder = { case: { ...about, state: 'PLANNING' }, sessions, proofs: [] }
  const texts = { hypothesis: 'my-secret-1', plan: 'p', output: 'o' }
  const context = await promptContext(
    {
      search: { similar: () => new Promise(() => {}) },
      limits: { similarCases: 100 },
      catalog: { folder: () => undefined },
      sessionTexts: async () => texts,
      redactor: createRedactor({ A_TOKEN: 'my-secret-1' }),
      layout: { root: '/' },
      log: (line: string) => logged.push(line),
    } as never,
    folder as never,
    { number: 12, type: 'planning' } as never,
    {
      memory: new Map([
        ['case.md', 'x'],
        ['notes.md', 'n'],
      ]),
      settings: { instructions: '', tests: null },
      workdir: '/',
      provider: { spec: null },
    },
  )
  t.match(context, { case: { title: 'Slow logins' }, similar: [] })
  t.strictSame(context.notes, [{ name: 'notes.md', text: 'n' }])
  t.match(logged, [/similar cases, so the agent gets none: Error: the index took more than 0.1 s/])
  t.strictSame(
    context.earlier.map(({ number }) => number),
    [11, 10, 8, 7, 6, 5, 4, 3],
    'the eight that ended last before it, the newest first',
  )
  t.match(context.earlier[0], {
    outcome: 'Type planning, run by mine: failed.',
    hypothesis: '[redacted A_TOKEN]',
    plan: 'p',
    output: 'o',
  })
})
