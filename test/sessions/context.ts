import t from 'tap'
import { promptContext } from '../../src/sessions/context.ts'
import { createRedactor } from '../../src/sessions/redaction.ts'

t.test('an agent waits only so long for similar cases, and then works without them', async (t) => {
  const logged: string[] = []
  const about = { id: 'c1', title: 'Slow logins', type: 'bug', description: '', checklist: [] }
  const folder = { case: { ...about, state: 'PLANNING' }, sessions: [], proofs: [] }
  const context = await promptContext(
    {
      search: { similar: () => new Promise(() => {}) },
      limits: { similarCases: 100 },
      catalog: { folder: () => undefined },
      sessionTexts: () => Promise.reject(new Error('there is no session')),
      redactor: createRedactor({}),
      layout: { root: '/' },
      log: (line: string) => logged.push(line),
    } as never,
    folder as never,
    { number: 1, type: 'planning' } as never,
    {
      memory: new Map(),
      settings: { instructions: '', tests: null },
      workdir: '/',
      provider: { spec: null },
    },
  )
  t.match(context, { case: { title: 'Slow logins' }, similar: [] })
  t.match(logged, [/similar cases, so the agent gets none: Error: the index took more than 0.1 s/])
})
