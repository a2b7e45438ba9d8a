import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, realpathSync } from 'node:fs'
import t, { type Test } from 'tap'
import { KNOWN_AGENTS } from '../../src/runners/agents/registry.ts'
import { commandRunner } from '../../src/runners/command/command-runner.ts'
import type { AgentRun, Runner } from '../../src/runners/contract.ts'
import { noSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { killRunById } from '../../src/runners/process/kill-run.ts'
import { TIME_LIMITS } from '../../src/runners/time-limits.ts'
import {
  drivenProviders,
  homeEnvironment,
  REAL_AGENTS,
  type RealAgentId,
  whyMissing,
} from '../fixtures/agents/real-agents.ts'
import { recordRun } from '../fixtures/agents/run-recorder.ts'
import type { Turn } from '../fixtures/model-dialects.ts'
import { CASE } from '../fixtures/records.ts'
import { openScriptedModel, type ScriptedModel } from '../fixtures/scripted-model.ts'

const TIMEOUT_MS = 120_000
const PLAN = { hypothesis: 'The limit is too low.', plan: '1. Raise the limit.' }
const ANSWER: Turn = {
  text: `I looked.\n\n## Hypothesis\n\n${PLAN.hypothesis}\n\n## Plan\n\n${PLAN.plan}\n`,
}
interface Scene {
  model: ScriptedModel
  workdir: string
  /** A folder that an agent has no business in. */
  elsewhere: string
}

/** A home of its own, a model that says what is scripted, and a place to work in. */
async function scene(t: Test, id: RealAgentId, runner: Runner) {
  const folder = realpathSync(t.testdir({ work: { 'app.js': '' }, elsewhere: {}, files: {} }))
  const home = `${folder}/home`
  mkdirSync(`${home}/tmp`, { recursive: true })
  const model = await openScriptedModel()
  t.teardown(() => model.close())
  const runId = randomUUID()
  t.teardown(() => killRunById(runId))
  const env = {
    ...homeEnvironment(home),
    ...REAL_AGENTS[id].settle(home, model.url),
    CASEFILE_RUN: runId,
  }
  const { workdir, elsewhere } = { workdir: `${folder}/work`, elsewhere: `${folder}/elsewhere` }
  const report = recordRun()
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const agentRun: AgentRun = {
    prompt: 'Look at app.js.\n',
    newId: randomUUID(),
    resume: null,
    env,

    folder: `${folder}/files`,
    sandbox: noSandbox(),
    timeoutMs: TIMEOUT_MS,
    limits: TIME_LIMITS,
    report,
  }
  return {
    model,
    workdir,
    elsewhere,
    report,
    runId,
    plan: (resume: string | null = null) => {
      const restartFresh = () => Promise.reject(new Error('it knows its conversation'))
      const agent = {
        ...agentRun,
        resume: resume === null ? null : { session: resume, restartFresh },
      }
      return runner.plan({ agent, workdir, signal, case: CASE, memory: new Map(), steps: [] })
    },
    execute: () =>
      runner.execute({
        agent: agentRun,
        workdir,
        signal,
        report,
        env,
        plan: PLAN.plan,

        stepTimeoutMs: TIMEOUT_MS,
        limits: TIME_LIMITS,
        sandbox: noSandbox(),
      }),
  }
}

const filesOf = ({ workdir, elsewhere }: Scene) =>
  [workdir, elsewhere].flatMap((folder) => readdirSync(folder))

/** Seconds of work each, and each once in one of its two ways; sessions/real-agents.ts has the others. */
const IN_EVERY_TEST: RealAgentId[] = ['codex', 'gemini', 'opencode']

t.test('real agents', async (t) => {
  for (const provider of drivenProviders(IN_EVERY_TEST)) {
    const real = REAL_AGENTS[provider]
    const runner = commandRunner(KNOWN_AGENTS.find(({ id }) => id === provider)!)
    const why = whyMissing(provider)
    t.test(provider, why === null ? {} : { skip: why }, async (t) => {
      t.test(
        'plans, cannot write meanwhile, and plans again in the same conversation',
        async (t) => {
          const here = await scene(t, provider, runner)
          here.model.script(
            real.writes(`${here.workdir}/inside.txt`),
            real.runs('echo x > inside-too.txt'),
            real.writes(`${here.elsewhere}/outside.txt`),
            real.runs(`echo x > '${here.elsewhere}/outside-too.txt'`),
            ANSWER,
            ANSWER,
          )
          t.strictSame(await here.plan(), PLAN)
          t.equal(here.model.requests.length, 5, 'it was asked to write')
          t.strictSame(filesOf(here), ['app.js'])
          const [started, session] = here.report.notes
          t.match(started, { event: 'agent_started', fields: { mode: 'plan' } })
          if (session?.event !== 'agent_session')
            throw new Error('it tells no id of a conversation')

          t.strictSame(await here.plan(session.fields.agent_session), PLAN)
          const said = JSON.stringify(here.model.requests.at(-1)?.body)
          t.match(said, 'I looked.', 'it knows what it said before')
          t.strictSame(filesOf(here), ['app.js'])
        },
      )

      t.test('works', async (t) => {
        const here = await scene(t, provider, runner)
        here.model.script(
          real.writes(`${here.workdir}/written.txt`),
          real.runs('echo x > by-command.txt'),
          { text: 'It is done.' },
        )
        t.strictSame(await here.execute(), { ok: true })
        t.strictSame(filesOf(here).sort(), ['app.js', 'by-command.txt', 'written.txt'])
        t.ok(here.report.notes.some(({ event }) => event === 'tool_call'))
        t.equal(await killRunById(here.runId), 0, 'it leaves no process behind')
      })
    })
  }
})
