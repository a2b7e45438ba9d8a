import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { type CaseFolder, sessionOf } from '../model/case-folder.ts'
import type { SessionType } from '../model/case-state.ts'
import * as decide from '../model/decide-session.ts'
import { Refusal } from '../model/refusal.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import { isOver as isOverState, isRunning, moved } from '../model/session-state.ts'
import { endMarked } from '../runners/process-sweep.ts'
import { createKeyedMutex } from '../workspace/keyed-mutex.ts'
import { nextSessionNumber, rememberNumber } from '../workspace/session-number.ts'
import { workingFolder } from '../workspace/workdir.ts'
import { execute } from './execution.ts'
import { createJobs, type Job, type Jobs } from './jobs.ts'
import type { SessionNeeds } from './needs.ts'
import { plan } from './planning.ts'
import { providerFor, runnerOf } from './providers.ts'
import { failSession, recover } from './recovery.ts'

export interface NewSession {
  type: SessionType
  provider?: string | undefined
  note?: string | undefined
}

/** What the operator can do with sessions. Each gives the case as it is afterwards. */
export interface Sessions {
  create(caseId: string, wanted: NewSession): Promise<{ folder: CaseFolder; session: Session }>
  editPlan(
    caseId: string,
    id: string,
    edit: Omit<decide.PlanEdit, 'sha256'>,
    allow: Allow,
  ): Promise<CaseFolder>
  approve(caseId: string, id: string, expected?: string): Promise<CaseFolder>
  revise(caseId: string, id: string, note: string): Promise<CaseFolder>
  abandon(caseId: string, id: string, reason?: string): Promise<CaseFolder>
  /** Whether a session plans or works in this process. */
  isRunning(id: string): boolean
  /** Ends what a service that died left behind. */
  recover(): Promise<void>
  /** Stops what runs; its sessions are `failed` when this resolves. */
  close(): Promise<void>
}

/** A condition of the request, checked on the session as it is when the change is made. */
export type Allow = (folder: CaseFolder, session: Session) => void

export interface SessionsOptions extends SessionNeeds {
  sessionTexts(caseId: string, session: Session): Promise<SessionTexts>
}

export function createSessions(needs: SessionsOptions): Sessions {
  const { store, runs, state, layout, now, newId } = needs
  const jobs: Jobs = createJobs({
    onChange: (caseId) => needs.catalog.touch(caseId),
    isOver,
    onFailure: failed,
  })
  const numbers = `${state.root}/numbers`
  const numbering = createKeyedMutex()

  async function start(wanted: Pick<Job, 'case_id' | 'session_id' | 'number' | 'kind' | 'folder'>) {
    const job = await jobs.open({ ...wanted, mark: newId() })
    const { session_id, case_id, number, mark } = job
    try {
      await runs.write({ session_id, case_id, number, mark, process: null })
    } catch (error) {
      jobs.close(job)
      throw error
    }
    return job
  }

  /**
   * Makes the change that a job begins with. Where it is refused nothing of the job remains; where it
   * broke off in the middle (a full disk), what it began is ended.
   */
  async function begin(job: Job, change: () => Promise<CaseFolder>): Promise<CaseFolder> {
    try {
      return await change()
    } catch (error) {
      const state = stateOf(job)
      if (state !== undefined && isRunning(state)) await failed(job, error)
      else await runs.remove(job.session_id)
      jobs.close(job)
      throw error
    }
  }

  const stateOf = ({ case_id, number }: Job) =>
    needs.catalog.entry(case_id)?.sessions.get(number)?.value?.state

  function isOver(job: Job): boolean {
    const state = stateOf(job)
    return job.planned || (state !== undefined && isOverState(state))
  }

  /** A job that could not record its end: its session still ends, now or at the next start. */
  async function failed(job: Job, error: unknown): Promise<void> {
    needs.log(failureLine(job, error))
    await endMarked(job.mark)
    const why = error instanceof Refusal ? error.message : String(error)
    try {
      await failSession(needs, job, () => `The service could not go on: ${why}`)
      await runs.remove(job.session_id)
    } catch (again) {
      needs.log(failureLine(job, again))
    }
  }

  return {
    async create(caseId, wanted) {
      const present = await store.read(caseId)
      const provider = await providerFor(needs.settings, present.case, wanted.provider)
      const runner = runnerOf(provider)
      await workingFolder(layout.root, present.case.workdir)
      const number = await numbering.run(caseId, async () => {
        const next = await nextSessionNumber(layout, numbers, caseId)
        await rememberNumber(numbers, caseId, next)
        return next
      })
      const id = newId()
      const job = await start({
        case_id: caseId,
        session_id: id,
        number,
        kind: 'plan',
        folder: null,
      })
      const { type, note } = wanted
      const folder = await begin(job, () =>
        store.update(caseId, (folder) =>
          decide.createSession(folder, { id, number, type, provider, note }, now()),
        ),
      )
      const session = sessionOf(folder, id)
      jobs.run(job, () => plan(needs, job, runner, wanted.note))
      return { folder, session }
    },

    async editPlan(caseId, id, edit, allow) {
      await mustBeRunnable(edit.plan)
      return store.update(caseId, (folder) => {
        allow(folder, sessionOf(folder, id))
        return decide.editPlan(folder, id, { ...edit, sha256: sha256(edit.plan) }, now())
      })
    },

    async approve(caseId, id, expected) {
      const present = await store.read(caseId)
      const session = decide.liveSession(present, id)
      moved(session.state, 'approve')
      const { plan: text } = await needs.sessionTexts(caseId, session)
      const workdir = await workingFolder(layout.root, present.case.workdir)
      const hash = sha256(text)
      const { number } = session
      const runner = runnerOf(session.provider)
      const job = await start({
        case_id: caseId,
        session_id: id,
        number,
        kind: 'work',
        folder: workdir,
      })
      const folder = await begin(job, async () => {
        if (expected === undefined || expected === hash) await mustBeRunnable(text)
        return store.update(
          caseId,
          (folder) => {
            const shown = folder.texts!.plan
            const wanted = expected ?? hash // without a hash: the text that was read a moment ago
            return decide.approve(folder, id, { sha256: sha256(shown), expected: wanted }, now())
          },
          { texts: id },
        )
      })
      jobs.run(job, () => execute(needs, job, runner, text))
      return folder
    },

    async revise(caseId, id, note) {
      const session = decide.liveSession(await store.read(caseId), id)
      moved(session.state, 'revise')
      const { number } = session
      const runner = runnerOf(session.provider)
      const job = await start({
        case_id: caseId,
        session_id: id,
        number,
        kind: 'plan',
        folder: null,
      })
      const folder = await begin(job, () =>
        store.update(caseId, (folder) => decide.revise(folder, id, note, now())),
      )
      jobs.run(job, () => plan(needs, job, runner, note))
      return folder
    },

    async abandon(caseId, id, reason) {
      const session = decide.liveSession(await store.read(caseId), id)
      moved(session.state, 'abandon')
      await jobs.end(id, 'abandon', reason)
      const folder = await store.read(caseId)
      if (sessionOf(folder, id).state === 'abandoned') return folder
      return store.update(caseId, (folder) => decide.abandon(folder, id, reason, now()))
    },

    isRunning(id) {
      const job = jobs.find(id)
      return job !== undefined && !isOver(job)
    },
    recover: () => recover(needs),
    close: () => jobs.endAll('stop'),
  }
}

/** A plan that says anything the runner would not understand is refused whole (design §6). */
async function mustBeRunnable(plan: string): Promise<void> {
  if (plan.trim() === '') {
    throw new Refusal('bad_request', 'The plan is blank: there would be nothing to approve.', {
      errors: [{ path: 'plan', message: 'expected a text that says something' }],
    })
  }
  const { errors } = await readPlan(plan)
  if (errors.length === 0) return
  throw new Refusal(
    'invalid_plan',
    `The plan cannot be run as it stands: line ${errors[0]!.line}: ${errors[0]!.message}. Edit the plan (PUT …/plan), then try again.`,
    { errors: errors.map(({ line, message }) => ({ path: `plan line ${line}`, message })) },
  )
}

function failureLine(job: Job, error: unknown): string {
  const what = error instanceof Refusal ? error.message : String((error as Error)?.stack ?? error)
  return `session ${job.number} of case ${job.case_id} could not record its ${job.kind}: ${what}`
}
