import { mock } from 'node:test'
import t from 'tap'
import { promptContext } from '../../src/sessions/context.ts'
import { createRedactor } from '../../src/sessions/redaction.ts'

t.test('an agent waits 20 s for the cases like its own, and works without them then', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const said: string[] = []
  const about = { id: 'c1', title: 'Slow logins', type: 'bug', description: '', checklist: [] }
  const folder = { case: { ...about, state: 'PLANNING' }, sessions: [], proofs: [] }
  let isDone = false
  const context = promptContext(
    {
      search: { similar: () => new Promise(() => {}) },
      catalog: { folder: () => undefined },
      sessionTexts: () => Promise.reject(new Error('there is no session')),
      redactor: createRedactor({}),
      layout: { root: '/' },
      log: (line: string) => said.push(line),
    } as never,
    folder as never,
    { number: 1, type: 'planning' } as never,
    { memory: new Map(), instructions: '', workdir: '/', provider: { spec: null } },
  ).finally(() => {
    isDone = true
  })
  mock.timers.tick(19_999)
  await new Promise(setImmediate)
  t.notOk(isDone)
  mock.timers.tick(1)
  t.match(await context, { case: { title: 'Slow logins' }, similar: [] })
  t.match(said, [/similar cases, so the agent gets none: Error: the index took more than 20 s/])
})
