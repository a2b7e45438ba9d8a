import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { PlanResult, RunReport, WorkResult } from '../../src/runners/contract.ts'
import { killRunById } from '../../src/runners/process/kill-run.ts'
import { type Mode, scene } from '../fixtures/agents/contract-scene.ts'
import {
  type Deed,
  SUBJECTS,
  type Subject,
  type Trial,
} from '../fixtures/agents/contract-subjects.ts'
import { isFull, isLong } from '../fixtures/full.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: 'the sweep works on Linux only' }

/** How it went, in one shape for both modes: a reason, or what came of it. */
async function outcome(run: Promise<PlanResult | WorkResult>): Promise<string | PlanResult | true> {
  try {
    const result = await run
    if ('plan' in result) return result
    return result.ok ? true : result.reason
  } catch (error) {
    if ((error as Error).name === 'RunnerFailure') return (error as Error).message
    throw error
  }
}

/** A reason is a sentence for a person, without what ends it. */
function isReason(t: Test, reason: unknown, found?: RegExp): void {
  t.type(reason, 'string')
  t.match(reason, /\w+ \w+/)
  t.notMatch(reason, /\.$/)
  if (found) t.match(reason, found)
}

/** One thing that the contract (src/runners/contract.ts) promises of every runner. */
interface Clause {
  name: string
  deed: Deed
  /** Both modes of an agent, and of another runner the one that starts programs, when left out. */
  modes?: readonly Mode[]
  /** Why this runner has nothing of the kind. */
  except?(subject: Subject): string | undefined
  /** It is about the process alone, which is the same code for every preset: `npm test` takes one of them. */
  ofProcess?: true
  proves(t: Test, trial: Trial, mode: Mode): Promise<void>
}

const agentsOnly = ({ name }: Subject) => (name === 'runbook' ? 'it is no agent' : undefined)

const CLAUSES: Clause[] = [
  {
    name: 'ends well',
    deed: 'good',
    modes: ['plan', 'execute'],
    async proves(t, trial, mode) {
      const here = scene(t, trial)
      const came = await outcome(here.run(mode))
      if (mode === 'execute') t.equal(came, true)
      else t.match(came, { hypothesis: /\S/, plan: /\S/ }, 'a plan is text')
    },
  },
  {
    name: 'says what it does in order, each when the one before is on disk',
    deed: 'good',
    except: agentsOnly,
    async proves(t, trial, mode) {
      let writing = 0
      const here = scene(t, trial, { report: { note: slowly } })
      async function slowly(note: Parameters<RunReport['note']>[0]) {
        t.equal(writing++, 0, `${note.event} waits for the one before`)
        await delay(5)
        await here.recorder.note(note)
        writing--
      }
      await here.run(mode)
      const { events, notes } = here.recorder
      t.equal(events[0], mode === 'plan' ? 'started plan-agent' : 'started agent')
      t.equal(events.at(-1), 'finished', 'the end comes last')
      t.equal(notes[0]?.event, 'agent_started')
      t.equal(notes.filter(({ event }) => event === 'agent_started').length, 1)
      const reported = notes.map(({ event }) => event)
      const tool = reported.indexOf('tool_call')
      if (tool !== -1)
        t.ok(reported.indexOf('agent_session') < tool, 'its id precedes what it does')
    },
  },
  {
    name: 'reports its process before anything of the program runs',
    deed: 'good',
    ofProcess: true,
    async proves(t, trial, mode) {
      const here = scene(t, trial, { report: { processStarted: late } })
      async function late(pid: number) {
        // long enough for a program that did not wait
        await delay(300)
        const { stdout, stderr } = here.recorder.said
        t.equal(stdout + stderr, '')
        t.notOk(existsSync(`${here.workdir}/fake-agent.txt`))
        await here.recorder.processStarted(pid)
      }
      await here.run(mode)
      t.equal(here.recorder.pids.length, 1)
    },
  },
  {
    name: 'a report that fails is passed on, and the program never runs',
    deed: 'good',
    ofProcess: true,
    async proves(t, trial, mode) {
      const processStarted = () => Promise.reject(new Error('disk full'))
      const here = scene(t, trial, { report: { processStarted } })
      await t.rejects(here.run(mode), { message: 'disk full' })
      t.notOk(existsSync(`${here.workdir}/fake-agent.txt`))
      t.equal(await killRunById(here.runId), 0)
    },
  },
  {
    name: 'is stopped before it begins',
    deed: 'good',
    ofProcess: true,
    async proves(t, trial, mode) {
      const here = scene(t, trial, { signal: AbortSignal.abort() })
      isReason(t, await outcome(here.run(mode)), /stopped/)
      t.notOk(existsSync(`${here.workdir}/fake-agent.txt`))
      t.equal(await killRunById(here.runId), 0)
    },
  },
  {
    name: 'is stopped in the middle, with no process left',
    deed: 'never ends',
    ofProcess: true,
    async proves(t, trial, mode) {
      await isStopped(t, trial, mode, 0)
    },
  },
  {
    name: 'is stopped though it ignores TERM, with the children of its group',
    deed: 'ignores TERM',
    ofProcess: true,
    async proves(t, trial, mode) {
      const { recorder } = await isStopped(t, trial, mode, 1)
      t.equal(recorder.outcome?.signal, 'SIGKILL')
    },
  },
  {
    name: 'what it leaves behind holds nothing up; what its end did not end is found by the mark',
    deed: 'leaves processes',
    ofProcess: true,
    async proves(t, trial, mode) {
      const here = scene(t, trial)
      await outcome(here.run(mode))
      // the group of a step lives on until the end of the run
      await endsLeftovers(t, here.runId, agent(trial) ? 1 : 2)
    },
  },
  {
    name: 'fails with a reason',
    deed: 'fails',
    async proves(t, trial, mode) {
      isReason(t, await outcome(scene(t, trial).run(mode)))
    },
  },
  {
    name: 'dies midway',
    deed: 'dies',
    async proves(t, trial, mode) {
      isReason(t, await outcome(scene(t, trial).run(mode)))
    },
  },
  {
    name: 'is not there',
    deed: 'missing',
    ofProcess: true,
    async proves(t, trial, mode) {
      const here = scene(t, trial)
      isReason(t, await outcome(here.run(mode)), /not found|missing|no-such-agent/)
      t.equal(await killRunById(here.runId), 0)
    },
  },
  {
    name: 'says what it was denied, and is done if it went on without it',
    deed: 'denied',
    modes: ['execute'],
    async proves(t, trial, mode) {
      const here = scene(t, trial)
      t.equal(await outcome(here.run(mode)), true)
      t.match(here.recorder.notes.filter(({ event }) => event === 'denied')[0]?.fields, {
        tool: /\w/,
        reason: /\w/,
      })
    },
  },
  {
    name: 'has no plan',
    deed: 'silent',
    modes: ['plan'],
    async proves(t, trial, mode) {
      isReason(t, await outcome(scene(t, trial).run(mode)))
    },
  },
  {
    name: 'never says that it succeeded',
    deed: 'no final event',
    async proves(t, trial, mode) {
      isReason(t, await outcome(scene(t, trial).run(mode)), /without saying that it succeeded/)
    },
  },
  {
    name: 'says that it succeeded, and exits with 1',
    deed: 'lying exit code',
    async proves(t, trial, mode) {
      isReason(t, await outcome(scene(t, trial).run(mode)), /exited with 1/)
    },
  },
  {
    name: 'prints 40 MB without a line end, and memory stays',
    deed: 'long line',
    ...(isLong ? {} : { modes: [] }),
    async proves(t, trial, mode) {
      let bytes = 0
      const before = process.memoryUsage.rss()
      let peak = before
      const output: RunReport['output'] = (_, part) => {
        bytes += part.length
        peak = Math.max(peak, process.memoryUsage.rss())
      }
      const came = await outcome(scene(t, trial, { report: { output } }).run(mode))
      t.ok(came, 'it comes to an end, well or not')
      const grown = Math.round((peak - before) / 1e6)
      t.ok(grown < 150, `grew by ${grown} MB over ${Math.round(bytes / 1e6)} MB`)
    },
  },
  {
    name: 'what it prints besides is no obstacle',
    deed: 'garbage',
    async proves(t, trial, mode) {
      const came = await outcome(scene(t, trial).run(mode))
      t.not(typeof came, 'string', String(came))
    },
  },
  {
    name: 'takes a long prompt as fast as it can',
    deed: 'slow reader',
    ofProcess: true,
    async proves(t, trial, mode) {
      const here = scene(t, trial, { agent: { prompt: 'p'.repeat(1_000_000) } })
      const came = await outcome(here.run(mode))
      t.not(typeof came, 'string', String(came))
      t.match(here.recorder.said.stdout, /I read 10\d{5} bytes/)
    },
  },
  {
    name: 'tells its list of things to do',
    deed: 'items',
    except: agentsOnly,
    modes: ['plan'],
    async proves(t, trial, mode) {
      const here = scene(t, trial)
      await here.run(mode)
      const lists = here.recorder.notes.filter(({ event }) => event === 'agent_plan')
      t.match(lists[0]?.fields, { entries: [{ content: 'Look', status: /\w/ }] })
      t.equal(lists.length, 2, 'once for each change')
    },
  },
]

const agent = ({ runner }: Trial) => runner.capabilities.isAgent

async function endsLeftovers(t: Test, runId: string, count: number): Promise<void> {
  t.equal(await killRunById(runId, 0), count, 'what has left its group')
  t.equal(await killRunById(runId, 0), 0, 'nothing remains')
}

async function isStopped(t: Test, trial: Trial, mode: Mode, leftovers: number) {
  const abort = new AbortController()
  const here = scene(t, trial, { signal: abort.signal })
  const goesOn = here.recorder.saying(trial.saying ?? 'I go on and on.')
  const run = outcome(here.run(mode))
  await goesOn
  abort.abort()
  // what it runs goes on for ten minutes
  isReason(t, await run, /stopped/)
  await endsLeftovers(t, here.runId, leftovers)
  t.equal(here.recorder.events.at(-1), 'finished', 'and its end is told')
  return here
}

/** Another subject starts and ends its process by the same code: a command as a step. */
const isProcessShown = ({ name, likeAnother }: Subject) =>
  likeAnother || (!isLong && name.startsWith('command'))

t.test('every runner keeps the contract', linuxOnly, async (t) => {
  // most of it is waiting for processes to end
  t.jobs = 4
  const isShort = ({ name, likeAnother }: Subject) => !likeAnother && name !== 'command: plain'
  for (const subject of SUBJECTS.filter((each) => isLong || isShort(each))) {
    t.test(subject.name, { buffered: true }, async (t) => {
      for (const { name, deed, except, ofProcess, modes, proves } of CLAUSES) {
        if (ofProcess && !isFull && isProcessShown(subject)) continue
        const trial = subject.of(deed)
        const why = except?.(subject) ?? (typeof trial === 'string' ? trial : undefined)
        if (why !== undefined || typeof trial === 'string') {
          t.test(name, { skip: why ?? true }, async () => {})
          continue
        }
        const both: Mode[] = trial.runner.capabilities.isAgent ? ['plan', 'execute'] : ['execute']
        const all = modes ?? both
        // one function runs the program in both modes; command.ts and acp.ts plan
        for (const mode of isLong ? all : all.slice(-1)) {
          t.test(`${name} (${mode})`, (t) => proves(t, trial, mode))
        }
      }
    })
  }
})
