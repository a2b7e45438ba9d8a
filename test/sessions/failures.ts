// Runs, jobs and plannings that cannot go on.
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { readPlan } from '../../src/markdown/plan-steps.ts'
import type { Edit } from '../../src/model/case-contents.ts'
import * as decide from '../../src/model/decide-session.ts'
import type { Runner } from '../../src/runners/contract.ts'
import type { Job } from '../../src/sessions/jobs.ts'
import { plan } from '../../src/sessions/plan-mode.ts'
import { createRedactor } from '../../src/sessions/redaction.ts'
import { createStepRecorder } from '../../src/sessions/run-recorder.ts'
import { createHistoryLines } from '../../src/state/history-lines.ts'
import { createRunRows } from '../../src/state/runs.ts'
import type { StateFolder } from '../../src/state/state-folder.ts'
import { finished, inLine, must, planned, step } from '../fixtures/session-client.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'
import { openTestService } from '../fixtures/workspace.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

const service = await openTestService(t)

/** Writes of the service to sessions fail where the fields of an added line fit. */
function failWrites(fits: (event: string, fields: object) => boolean) {
  const { store } = service.service
  const { update } = store
  store.update = (id, decided, options) =>
    update(
      id,
      (folder) => {
        const edits = decided(folder)
        const lines = edits.flatMap((edit: Edit) =>
          edit.file === 'session' ? (edit.edit.lines ?? []) : [],
        )
        if (lines.some(({ event, fields }) => fits(event, fields))) throw new Error('no such disk')
        return edits
      },
      options,
    )
  return () => {
    store.update = update
  }
}

t.test(
  'a run fails whose end of a step cannot be recorded, also that of the last one',
  async (t) => {
    const runbook = step('echo one', 'sh run id=one') + step('echo two', 'sh run id=two')
    for (const last of ['one', 'two']) {
      const ref = await planned(service, { runbook })
      const redo = failWrites((event) => event === 'plan_approved')
      t.match(await service.request('POST', `${ref.path}/approve`), { status: 500 })
      t.match(await must(service, 'GET', ref.path), {
        state: 'plan_ready',
        problems: { length: 0 },
      })
      redo()
      service.log.length = 0
      const undo = failWrites((event, fields) => {
        return event === 'step_finished' && 'step' in fields && fields.step === last
      })
      const { session } = await finished(service, ref)
      undo()
      t.match(session, {
        state: 'failed',
        output: new RegExp(
          `- ${last}: not finished\n\n.*no such disk[^]*of ${last}:\n\n.*\n${last}\n`,
        ),
        problems: { length: 0 },
      })
      t.match(service.log.pop(), /could not record its work: .*no such disk/)
      t.strictSame(service.log, [])
    }
    t.strictSame(await inLine(service), [])
  },
)

t.test('a run that breaks off leaves no log open', linuxOnly, async (t) => {
  const { id } = await service.newCase()
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (let round = 0; round < 10; round++) {
    const recorder = createStepRecorder({
      layout: service.service.layout,

      case_id: id,
      number: round + 1,
      append: async () => {
        throw new Error('the disk is full')
      },
      publish: () => {},
      onProcess: async () => {},
      onNote: async () => {},
      endNotes: async () => {},
      redactor: createRedactor({}),
    })
    const [{ steps }] = [await readPlan(step('true', 'sh run proof=tap'))]
    await t.rejects(recorder.stepStarted(steps[0]!, 1000), /the disk is full/)
    await recorder.close()
  }
  t.ok(open() < before + 10, `${open()} open, ${before} before`)
})

t.test('planning ends in time, whatever the runner does', async (t) => {
  const needs = { ...service.service, ...planningNeeds() }
  const cases: [
    name: string,
    result: Promise<never>,
    abort: boolean,
    reason: RegExp,
    log: RegExp[],
  ][] = [
    ['a runner that does not listen', new Promise(() => {}), true, /service was stopped/, []],
    [
      'one with a defect',
      Promise.reject(new TypeError('x is not a function')),
      false,
      /x is not a function/,
      [/TypeError: x is not a function\n\s+at /],
    ],
  ]
  for (const [, result] of cases) result.catch(() => {})
  for (const [name, result, abort, reason, log] of cases) {
    await t.test(name, async (t) => {
      const ref = await planned(service)
      const { number } = await must(service, 'GET', ref.path)
      await service.service.store.update(ref.case_id, (folder) =>
        decide.revise(
          folder,
          ref.id,
          { text: 'again', note: 'again', comments: '', changes: [], lines: [] },
          needs.now(),
        ),
      )
      const controller = new AbortController()
      const job: Job = {
        session_id: ref.id,
        case_id: ref.case_id,
        number,
        kind: 'plan',
        runId: 'm',

        folder: null,
        isolated: false,
        inLine: false,
        release: () => {},
        signal: controller.signal,
        reason: undefined,
        endedBy: undefined,
        planned: false,
        processes: [],
        folderId: ref.id,
        ending: abort ? 'stop' : null,
      }
      const runner: Runner = {
        kind: 'runbook',
        capabilities: { isAgent: false, executesAny: true },
        async plan() {
          if (abort) controller.abort()
          return result
        },
        execute: async () => ({ ok: true }),
      }
      service.log.length = 0
      await plan(needs, job, { id: 'odd', source: 'built-in', spec: null, trusted: true, runner })
      const file = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
      t.match(await must(service, 'GET', ref.path), { state: 'failed', problems: { length: 0 } })
      t.match(file, reason)
      t.equal(service.log.length, log.length)
      t.match(service.log, log)
    })
  }
})

function planningNeeds() {
  return {
    environment: {},
    redactor: createRedactor({}),
    conversations: new Map(),
    touchedInRun: new Set<string>(),
    running: new Set<string>(),
    historyLines: createHistoryLines(service.service.database),
    isGits: () => false,
    mount: true,
    limits: SHORT_LIMITS,
    state: { root: service.stateDir } as StateFolder,
    runs: createRunRows(service.service.database, (line) => service.log.push(line)),
  }
}
