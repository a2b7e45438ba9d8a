import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { acpRunner } from '../../src/runners/acp/acp.ts'
import { ACP_AGENTS } from '../../src/runners/agents/registry.ts'
import type { AgentNote, AgentRun } from '../../src/runners/contract.ts'
import { noSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { TIME_LIMITS } from '../../src/runners/time-limits.ts'
import { recordRun } from '../fixtures/agents/run-recorder.ts'
import {
  type TranscriptLine,
  transcriptFile,
  transcriptsOf,
} from '../fixtures/agents/transcripts.ts'
import { isLong } from '../fixtures/full.ts'
import { program } from '../fixtures/plain-agents.ts'
import { CASE } from '../fixtures/records.ts'

/*
 * What a run makes of what real agents sent over ACP: `npm run transcripts` recorded it. Of commands see streams.ts.
 * Where a request is not in the transcript, record it again.
 */

const REPLAY = fileURLToPath(new URL('../fixtures/agents/replay-agent.mjs', import.meta.url))
const PLAN = { hypothesis: 'The limit is too low.', plan: '1. Raise the limit.' }

/** The outcome of a scene, and what was reported while it ran. */
async function replayed(t: Test, provider: string, scene: string) {
  const { mode, lines } = transcriptsOf(provider).get(scene)!
  const folder = realpathSync(t.testdir({ work: { 'app.js': 'limit = 1\n' }, files: {}, home: {} }))
  const workdir = `${folder}/work`
  const spec = ACP_AGENTS.find(({ id }) => id === provider)!
  const paths = [`/project=${workdir}`, `/home/me=${folder}/home`]
  const words = [process.execPath, REPLAY, transcriptFile(provider, scene), ...paths]
  const command = words.map((word) => `'${word}'`).join(' ')
  program(`${folder}/bin`, spec.program, `#!/bin/sh\nexec ${command} -- "$@"\n`)
  writeRecord(`${folder}/home`, lines)
  const report = recordRun()
  const signal = AbortSignal.timeout(60_000)
  const env = { PATH: `${folder}/bin:${process.env.PATH}`, HOME: `${folder}/home` }
  const agent: AgentRun = {
    prompt: 'Look at app.js.\n',
    newId: 'unused',
    resume: null,
    env,

    folder: `${folder}/files`,
    sandbox: noSandbox(),
    limits: TIME_LIMITS,
    report,
  }
  const shared = { agent, workdir, signal }
  const runner = acpRunner(spec)
  const ended =
    mode === 'plan'
      ? runner.plan({ ...shared, case: CASE, memory: new Map(), steps: [] })
      : runner.execute({
          ...shared,
          report,
          env,
          plan: PLAN.plan,
          sandbox: noSandbox(),

          stepTimeoutMs: 60_000,
          limits: TIME_LIMITS,
        })
  const outcome = await ended.catch((error: Error) => {
    if (error.name !== 'RunnerFailure') throw error
    return { ok: false, reason: error.message }
  })
  return { outcome, notes: report.notes }
}

/** What Codex recorded in the scene, as if it were recorded now. */
function writeRecord(home: string, lines: readonly TranscriptLine[]): void {
  const records = lines.flatMap((line) => ('record' in line ? [line.record] : []))
  const text = records.map((line) => `${JSON.stringify(line)}\n`).join('')
  const time = new Date(Date.now() + 60_000).toISOString()
  const day = `${home}/.codex/sessions/2026/01/01`
  mkdirSync(day, { recursive: true })
  writeFileSync(
    `${day}/rollout-2026-01-01T00-00-00-00000000-0000-4000-8000-000000000001.jsonl`,
    text.replaceAll('2026-01-01T00:00:00.000Z', time),
  )
}

function deniedIn(notes: AgentNote[]): string[] {
  return notes.flatMap(({ event, fields }) =>
    event === 'denied' ? [`${fields.title ?? fields.tool}: ${fields.reason}`] : [],
  )
}

function callsIn(notes: AgentNote[]): string {
  const calls = notes.flatMap(({ event, fields }) =>
    event === 'tool_call' ? [`${fields.kind} ${fields.status}`] : [],
  )
  return calls.join(', ')
}

for (const { id } of ACP_AGENTS) {
  t.test(id, async (t) => {
    const outcome = async (scene: string) => (await replayed(t, id, scene)).outcome
    // readings.ts reads all scenes, without a process
    const plans = isLong ? ['plan', 'plan-tools', 'fault-500-then-plan'] : []
    for (const scene of [...plans, 'plan-writes']) t.strictSame(await outcome(scene), PLAN, scene)
    const faults = isLong
      ? ['plan-no-marks', 'fault-400', 'fault-500', 'fault-empty', 'fault-cut']
      : []
    for (const scene of [...faults, 'fault-400-at-work']) {
      t.match(await outcome(scene), { ok: false, reason: /^\S[^{}\n]*\S$/ }, scene)
    }

    const work = await replayed(t, id, 'work')
    t.strictSame(work.outcome, { ok: true })
    t.match(callsIn(work.notes), /edit completed/)
    t.notMatch(work.notes, [{ event: 'denied' }])
    if (!isLong) return
    const failing = await replayed(t, id, 'failing-command')
    t.strictSame(failing.outcome, { ok: true })
    t.match(callsIn(failing.notes), /execute/)
  })
}

t.test('what a rule of the user forbids is a denial', async (t) => {
  const reasons: Record<string, RegExp> = {
    'claude-agent-acp':
      /^echo forbidden thing: Permission to use Bash with command .* has been denied\.$/,
    'codex-acp': /^echo forbidden thing: policy forbids commands starting with `echo forbidden`$/,
    'gemini-acp': /^run_shell_command: Tool execution for "Shell" denied by policy\.$/,
  }
  for (const [id, reason] of Object.entries(reasons)) {
    const { outcome, notes } = await replayed(t, id, 'forbidden-command')
    t.strictSame(outcome, { ok: true }, id)
    t.match(deniedIn(notes), [reason], id)
    t.equal(deniedIn(notes).length, 1, id)
  }
})

t.test('codex-acp reports a refusal by its sandbox once, whether or not it sent it', async (t) => {
  const refused = (path: string, file = path) =>
    `echo written > '/${path}': /bin/bash: line 1: /${file}: Read-only file system`
  const isSent = (scene: string) =>
    transcriptsOf('codex-acp')
      .get(scene)!
      .lines.some((line) => 'out' in line && JSON.stringify(line).includes('exec_command'))

  t.ok(isSent('refused-other-way'))
  const sent = await replayed(t, 'codex-acp', 'refused-other-way')
  t.strictSame(sent.outcome, { ok: true })
  t.strictSame(
    deniedIn(sent.notes),
    ['a', 'b', 'c'].map((name) => refused(`elsewhere/${name}.txt`)),
  )
  t.notOk(isSent('plan-writes'))
  const unsent = await replayed(t, 'codex-acp', 'plan-writes')
  t.strictSame(unsent.outcome, PLAN)
  t.match(deniedIn(unsent.notes), [
    /^echo written > '.*made\.txt': .*: Read-only file system$/,
    'echo x > by-command.txt: /bin/bash: line 1: by-command.txt: Read-only file system',
  ])
})

t.test(
  'codex-acp cancels its turn when an action is refused, and goes on when it is asked to',
  async (t) => {
    const { outcome, notes } = await replayed(t, 'codex-acp', 'refused-by-policy')
    t.strictSame(outcome, { ok: true })
    const [command, file, ...others] = deniedIn(notes)
    t.equal(command, 'rm -rf /: it names /, which is outside the working folder')
    t.match(file, /made\.txt/)
    t.strictSame(others, [])
  },
)
