import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  homeEnvironment,
  REAL_AGENTS,
  type RealAgentId,
  whyMissing,
} from '../fixtures/agents/real-agents.ts'
import { startBuilt } from '../fixtures/built-service.ts'
import { isFull } from '../fixtures/full.ts'
import { committed, plannedBy } from '../fixtures/plain-agents.ts'
import { openScriptedModel } from '../fixtures/scripted-model.ts'
import { finished, git } from '../fixtures/session-client.ts'

const ANSWER = `I looked.

<!-- casefile:plan -->
## Hypothesis

The limit is too low.

## Plan

1. Raise it.

\`\`\`sh run id=proof proof=tap
grep -q written made.txt && printf 'TAP version 14\\n1..1\\nok 1\\n'
\`\`\`
<!-- /casefile:plan -->`

const PROVIDERS: [provider: string, id: RealAgentId][] = [
  ['codex', 'codex'],
  ['gemini', 'gemini'],
  ['opencode', 'opencode'],
  ['gemini-acp', 'gemini'],
  ['opencode-acp', 'opencode'],
]

for (const [provider, id] of PROVIDERS) {
  // seconds of work each; runners/real-agents.ts has those
  if ((provider === 'opencode' || provider === 'gemini') && !isFull) continue
  const why = whyMissing(id)
  t.test(
    `${provider}, from the case to the evidence`,
    why === null ? {} : { skip: why },
    async (t) => {
      t.teardown(() => {}) // or tap removes the testdir before the service has ended
      const dir = realpathSync(
        t.testdir({ root: { 'app.js': 'limit = 1\n' }, state: {}, home: {} }),
      )
      const [root, stateDir, home] = [join(dir, 'root'), join(dir, 'state'), join(dir, 'home')]
      mkdirSync(join(home, 'tmp'))
      committed(root)
      const model = await openScriptedModel()
      t.teardown(() => model.close())
      const env = { ...homeEnvironment(home), ...REAL_AGENTS[id].settle(home, model.url) }
      const service = await startBuilt(t, { root, stateDir, env })
      const real = REAL_AGENTS[id]

      model.script(real.writes(join(root, 'app.js')), { text: ANSWER })
      const { ref, session } = await plannedBy(service, provider)
      const file = join(root, 'memory/cases', ref.case_id, 'sessions/1.md')
      const trail = () => readFileSync(file, 'utf8').split('## Audit trail')[1] ?? ''
      t.equal(readFileSync(join(root, 'app.js'), 'utf8'), 'limit = 1\n', 'the disk is clean')
      t.equal(git(root, 'status', '--porcelain'), '')
      t.match(session, { state: 'plan_ready', hypothesis: 'The limit is too low.' }, trail())
      t.match(session.plan, /^1\. Raise it\.\n\n```sh run id=proof/)
      t.match(trail(), /agent_session agent_session=\S+/)

      model.script(real.writes(join(root, 'made.txt')), { text: 'I made it.' })
      const run = await finished(service, ref)
      t.match(run.session, { state: 'complete', tests: { run: 1, passed: 1, failed: 0 } }, trail())
      t.equal(run.session.diff?.file, 'made.txt')
      t.match(trail(), /tool_call /)
    },
  )
}
