import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { KNOWN_AGENTS } from '../../src/runners/agents/registry.ts'
import { hostileProject, trustByAgents, writeFiles } from '../fixtures/agents/hostile-project.ts'
import {
  homeEnvironment,
  REAL_AGENTS,
  type RealAgentId,
  whyMissing,
} from '../fixtures/agents/real-agents.ts'
import { runBuilt, startBuilt } from '../fixtures/built-service.ts'
import { isFull } from '../fixtures/full.ts'
import { committed, LIST_PLAN, plannedBy } from '../fixtures/plain-agents.ts'
import { openScriptedModel } from '../fixtures/scripted-model.ts'
import { finished, must, reachesAgain } from '../fixtures/session-client.ts'

/**
 * What protects an agent: a switch that makes it ignore the project's files, or trust. For opencode the switch covers most
 * files, and trust the rest.
 */
const DRIVES: readonly [provider: RealAgentId, by: 'switch' | 'trust'][] = [
  ['claude', 'switch'],
  ['codex', 'switch'],
  ['opencode', 'switch'],
  ['copilot', 'trust'],
  ['gemini', 'trust'],
  ['opencode', 'trust'],
]

const INSTRUCTIONS = {
  'AGENTS.md': 'Words of the project.\n',
  'GEMINI.md': 'Words of the project.\n',
}

for (const [provider, by] of DRIVES) {
  const why = isFull ? whyMissing(provider) : 'npm run test:agents drives it'
  t.test(
    `${provider} in a hostile project, by ${by}`,
    why === null ? {} : { skip: why },
    async (t) => {
      t.teardown(() => {}) // or tap removes the testdir before the service has ended
      const dir = realpathSync(
        t.testdir({ root: { 'app.js': 'limit = 1\n' }, state: {}, home: { tmp: {} }, marks: {} }),
      )
      const [root, stateDir, home] = [join(dir, 'root'), join(dir, 'state'), join(dir, 'home')]
      const [model, trap] = [await openScriptedModel(), await openScriptedModel()]
      t.teardown(() => Promise.all([model.close(), trap.close()]))
      const hostile = hostileProject(provider, join(dir, 'marks'), trap.url)
      const env = { ...homeEnvironment(home), ...REAL_AGENTS[provider].settle(home, model.url) }
      trustByAgents(home, dir)
      const real = REAL_AGENTS[provider]
      const untouched = (message: string) => {
        t.strictSame(hostile.ran(), [], `${message}: nothing of the project ran`)
        t.strictSame(
          trap.seen.map(({ method, url }) => `${method} ${url}`),
          [],
          `${message}: nothing was sent`,
        )
      }
      const work = async (service: Awaited<ReturnType<typeof startBuilt>>) => {
        model.script({ text: LIST_PLAN })
        const { ref, session } = await plannedBy(service, provider)
        const trail = () =>
          readFileSync(join(root, 'memory/cases', ref.case_id, 'sessions/1.md'), 'utf8').split(
            '## Audit trail',
          )[1] ?? ''
        t.match(session, { state: 'plan_ready' }, trail())
        return { ref, trail }
      }

      if (by === 'switch') {
        writeFiles(root, { ...withoutTrusted(provider, hostile.files), ...INSTRUCTIONS })
        committed(root)
        const service = await startBuilt(t, { root, stateDir, env })
        const { ref, trail } = await work(service)
        untouched('planning')
        const prompt = JSON.stringify(model.requests.at(-1)?.body)
        t.equal(
          prompt.split('Words of the project.').length,
          2,
          'its instructions are in the prompt, once',
        )
        t.notMatch(prompt, 'HOSTILE-WORDS')
        model.script({ text: LIST_PLAN })
        await must(service, 'POST', `${ref.path}/revise`, { note: 'Again.' })
        await reachesAgain(service, ref, 'plan_ready')
        untouched('planning again')
        // a file that language servers and formatters are for
        model.script(real.writes(join(root, 'made.js')), { text: 'I made it.' })
        const { session } = await finished(service, ref)
        t.match(session, { state: 'complete', diff: { file: 'made.js' } }, trail())
        untouched('work')
        t.notMatch(
          model.seen.map(({ text }) => text).join('\n'),
          'HOSTILE-WORDS',
          'the model never got the project’s words',
        )
        return
      }

      committed(root)
      const service = await startBuilt(t, { root, stateDir, env })
      const { ref, trail } = await work(service)
      const earlier = model.requests.length
      writeFiles(root, hostile.files)
      const refused = { status: 422, json: { code: 'untrusted_agent_files' } }
      const { plan_sha256 } = await must(service, 'GET', ref.path)
      t.match(await service.request('POST', `${ref.path}/approve`, { plan_sha256 }), refused)
      t.match(await service.request('POST', `${ref.path}/revise`, { note: 'Again.' }), refused)
      const other = await must(service, 'POST', '/cases', { title: 'Another' })
      const path = `/cases/${other.id}/sessions`
      const answer = await service.request('POST', path, { type: 'planning', provider })
      t.match(answer, refused)
      t.match(answer.json.detail, 'casefile doctor --trust')
      t.notOk(existsSync(join(root, 'memory/cases', other.id, 'sessions')), 'no session was made')
      t.equal(model.requests.length, earlier, 'no agent was started')
      const { problems } = await must(service, 'GET', '/health')
      t.ok(problems.some(({ code }: { code: string }) => code === 'untrusted_agent_files'))
      untouched('refused')

      for (const name of Object.keys(hostile.files)) rmSync(join(root, name))
      rmSync(join(root, '.github'), { recursive: true, force: true })
      model.script(real.writes(join(root, 'made.txt')), { text: 'I made it.' })
      const { session } = await finished(service, ref)
      t.match(session, { state: 'complete', diff: { file: 'made.txt' } }, trail())
      untouched('work')

      writeFiles(root, hostile.files)
      const shown = await runBuilt(
        ['doctor', '--trust', '--root', root, '--state-dir', stateDir, '--yes'],
        env,
      )
      t.equal(shown.code, 0, shown.stdout + shown.stderr)
      model.script({ text: LIST_PLAN })
      const made = await must(service, 'POST', path, { type: 'planning', provider })
      t.equal(made.state, 'created', 'once trusted it is started')
    },
  )
}

/** What the agent's switch is for: the others count only once they are trusted. */
function withoutTrusted(provider: RealAgentId, files: Record<string, string>) {
  const { projectFiles } = KNOWN_AGENTS.find(({ id }) => id === provider)!
  const needsTrust = (path: string) =>
    projectFiles.some((name) => (name.endsWith('/') ? path.startsWith(name) : path === name))
  return Object.fromEntries(Object.entries(files).filter(([path]) => !needsTrust(path)))
}
