import { setTimeout as delay } from 'node:timers/promises'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, type Edit, sessionOf } from '../model/case-contents.ts'
import { recordSent, type SentNote } from '../model/decide-comments.ts'
import * as decide from '../model/decide-session.ts'
import type { Actor } from '../model/history.ts'
import type { Session } from '../model/session.ts'
import { isActive, nextState } from '../model/session-state.ts'
import { lineInQueue } from '../model/trail.ts'
import { visibleText } from '../model/visible-text.ts'
import { workingFolder } from '../settings/workdir.ts'
import { type ConversationRows, createConversationRows } from '../state/conversations.ts'
import type { Database } from '../state/database.ts'
import { createHistoryLines } from '../state/history-lines.ts'
import { createPlanTexts, type PlanTexts } from '../state/plans.ts'
import { createRunRows } from '../state/runs.ts'
import { createSessionNumbers, type SessionNumbers } from '../state/session-numbers.ts'
import { nextSessionNumber } from '../workspace/session-number.ts'
import { type Approve, createApproval, folderInTerminal } from './approval.ts'
import { type CommentActions, createCommentActions, mustBePlan } from './comment-actions.ts'
import { type Conversations, createConversations } from './conversations/conversations.ts'
import { planInTerminal } from './conversations/terminal-plan.ts'
import { type DeniedRequest, noteDenied } from './denied-request.ts'
import type { SessionDeps } from './deps.ts'
import { createExpectedWalls, type SessionWalls } from './expected-walls.ts'
import type { FolderUse, Obstacle } from './folder-lock.ts'
import { createHandEdits, type HandEditDeps, type HandEdits } from './hand-edits.ts'
import { startWithIntent } from './intents.ts'
import { chosenIsolation } from './isolation-checks.ts'
import type { Job, SessionRun, Standing } from './jobs.ts'
import { plan } from './plan-mode.ts'
import { createProviders, type Providers } from './provider-runs.ts'
import { mustBeInstalled, mustBeLoggedIn, providerOf } from './providers.ts'
import { changeRequest, type NewSession, requestedSession } from './sent-notes.ts'
import { createSessionJobs, recover, type WhileFree } from './session-jobs.ts'
import { mustBeRunnable, mustTrustFiles } from './start-checks.ts'

interface SessionParts {
  sessions: Sessions
  comments: CommentActions
  conversations: Conversations
  providers: Providers
  handEdits: HandEdits
  plans: PlanTexts
}

/** Creates the parts that plan, execute and record sessions. */
export function createSessionParts(
  deps: Omit<SessionDeps, 'runs' | 'plans' | 'conversations' | 'touchedInRun' | 'historyLines'> &
    Pick<HandEditDeps, 'runGuard' | 'texts' | 'operator'> & { database: Database },
): SessionParts {
  const { database, log } = deps
  const plans = createPlanTexts(database, log)
  const shared = {
    ...deps,
    plans,
    runs: createRunRows(database, log),
    historyLines: createHistoryLines(database),
    conversations: new Map(),
    touchedInRun: new Set<string>(),
  }
  const { sessions, conversations } = createSessions({
    ...shared,
    numbers: createSessionNumbers(database),
    records: createConversationRows(database, log),
  })
  return {
    sessions,
    comments: createCommentActions(shared),
    conversations,
    plans,
    providers: createProviders(shared),
    handEdits: createHandEdits({ ...shared, stop: sessions.stop }),
  }
}

/** The operator's actions on sessions. Each returns the case after the change. */
export interface Sessions {
  create(
    caseId: string,
    wanted: NewSession,
    by: Actor,
  ): Promise<{ contents: CaseContents; session: Session }>
  editPlan(
    caseId: string,
    id: string,
    edit: Pick<decide.PlanEdit, 'plan' | 'hypothesis'>,
    /** `expected` is the hash of the plan that was edited. */
    asked: { allow: Allow; by: Actor; expected?: string | undefined },
  ): Promise<CaseContents>
  approve: Approve
  /** Takes an approved session out of the line; its plan waits for approval again. */
  leaveLine(caseId: string, id: string, asked: { by: Actor }): Promise<CaseContents>
  /** What would hold the programs of a session if it were approved now. */
  walls(contents: CaseContents, session: Session): Promise<SessionWalls>
  /** Why a session could not start in that place now; null if it could. */
  obstacle(place: FolderUse): Obstacle | null
  /** The place in line of a session; null if it does not wait. */
  standing(id: string): Standing | null
  /** Throws `bad_request` if there is neither a note nor a comment to send. */
  revise(
    caseId: string,
    id: string,
    asked: { note?: string | undefined; by: Actor },
  ): Promise<CaseContents>
  abandon(
    caseId: string,
    id: string,
    asked: { reason?: string | undefined; by: Actor },
  ): Promise<CaseContents>
  /** The last session number of a case that this machine remembers. */
  lastNumber(caseId: string): number
  /** The running sessions, so that their own requests to the service can be recognized. */
  runs(): SessionRun[]
  /** Records in a session's audit trail that its own run sent a request only the operator may send. */
  noteDenied(id: string, denied: DeniedRequest): Promise<void>
  whileFree: WhileFree
  /** Stops a session's job and waits for its recorded end. False if none is running. */
  stop(id: string, reason: string): Promise<boolean>
  /** Cleans up after a service that died. */
  recover(): Promise<void>
  /** Stops all jobs. Their sessions are `failed` when this resolves. */
  close(): Promise<void>
}

/** A condition of the request, checked against the session when the change is made. */
type Allow = (contents: CaseContents, session: Session) => void

interface TerminalDeps {
  numbers: SessionNumbers
  records: ConversationRows
  operator: () => Promise<string>
}

function createSessions(deps: SessionDeps & TerminalDeps): {
  sessions: Sessions
  conversations: Conversations
} {
  const { store, numbers, layout, now, newId, limits } = deps
  const { jobs, start, begin, whileFree } = createSessionJobs(deps)
  const numbering = createKeyedMutex()

  const newNumber = (caseId: string) =>
    numbering.run(caseId, async () => {
      const next = await nextSessionNumber(layout, numbers.last(caseId), caseId)
      numbers.remember(caseId, next)
      return next
    })

  /** Creates a session whose first planning is `work`. */
  async function beginSession(
    caseId: string,
    wanted: Omit<decide.NewSession, 'id' | 'number'>,
    by: Actor,
    work: (job: Job) => Promise<void>,
    also: { texts: string; edits: (contents: CaseContents) => Edit[] } | null = null,
  ): Promise<{ contents: CaseContents; session: Session }> {
    const number = await newNumber(caseId)
    const id = newId()
    const job = await start({
      ...named(caseId, id, number),
      kind: 'plan',
      folder: null,
      isolated: false,
    })
    const contents = await begin(
      job,
      (decided) =>
        store.update(
          caseId,
          (contents) =>
            decided([
              ...decide.createSession(contents, { id, number, ...wanted }, now()),
              ...(also?.edits(contents) ?? []),
            ]),
          { by, ...(also ? { texts: also.texts } : {}) },
        ),
      (contents) => decide.caseMove(contents, 'created', wanted.type),
    )
    const session = sessionOf(contents, id)
    jobs.run(job, () => work(job))
    return { contents, session }
  }

  /** Moves a session from plan_ready back to planning, which is `work`. */
  async function planAgain(
    { case_id, id, number }: Session,
    send: (contents: CaseContents) => SentNote,
    by: Actor,
    work: (job: Job, note: string) => Promise<void>,
  ): Promise<CaseContents> {
    const job = await start({
      ...named(case_id, id, number),
      kind: 'plan',
      folder: null,
      isolated: false,
    })
    let before = ''
    let note = ''
    const decided = (contents: CaseContents) => {
      before = contents.texts!.plan
      const sent = send(contents)
      note = sent.text
      return decide.revise(contents, id, sent, now())
    }
    const contents = await begin(job, (begun) =>
      store.update(case_id, (contents) => begun(decided(contents)), { texts: id, by }),
    )
    await deps.plans.store(before)
    jobs.run(job, () => work(job, note))
    return contents
  }

  const conversations = createConversations({
    ...deps,
    async begin(caseId, { provider, by }, work) {
      const wanted = { type: 'implementing', provider, origin: 'terminal' } as const
      return (await beginSession(caseId, wanted, by, work)).session
    },
    busyWith(folder) {
      const first = jobs.obstacle({ folder, isolated: false })?.by[0].job
      if (!first) return null
      const title = deps.catalog.row(first.case_id)?.title ?? first.case_id
      return `session ${first.number} of “${visibleText(title)}”`
    },
    async planAgain(session, note, by) {
      const sent = { text: note, note, comments: '', changes: [], lines: [] }
      await planAgain(
        session,
        () => sent,
        by,
        (job) => planWithTalk(session, job),
      )
    },
    async approve({ case_id, id }, plan, by, standing) {
      await sessions.approve(case_id, id, { plan_sha256: sha256(plan), by, standing })
    },
  })

  const planWithTalk = (session: Session, job: Job) =>
    planInTerminal(
      deps,
      job,
      conversations.turnQueueOf(session),
      folderInTerminal(conversations, session),
    )

  const approve = createApproval({ deps, jobs, start, begin, conversations })

  const sessions: Sessions = {
    async create(caseId, wanted, by) {
      const mayBeOfAgent = sessions.runs().length > 0
      const present = await store.read(caseId)
      const settings = await deps.settings()
      const requested = await requestedSession(deps, present, wanted)
      const { type, note, request, provider: name, sent } = requested
      const chosen = providerOf(name ?? present.case.provider ?? settings.provider, settings)
      const workdir = await workingFolder(layout.root, present.case.workdir, settings.folders)
      await mustBeInstalled(deps, chosen, workdir)
      await mustTrustFiles(chosen, { root: layout.root, folder: workdir }, settings.files)
      const isolated = await chosenIsolation([requested, present.case, settings], workdir, layout)
      await mustBeLoggedIn(deps, chosen)
      const { again, intent } = wanted
      if (intent) {
        const named = { type, provider: chosen.id, note, ...isolated }
        return startWithIntent(
          { ...deps, approve, newNumber },
          present,
          { intent, chosen, named, mayBeOfAgent },
          by,
        )
      }
      return beginSession(
        caseId,
        { type, provider: chosen.id, again: requested.again, note, ...isolated },
        by,
        (job) => plan(deps, job, chosen, request),
        again !== undefined && sent
          ? { texts: again, edits: (contents) => recordSent(contents, again, sent, now()) }
          : null,
      )
    },

    async editPlan(caseId, id, edit, { allow, by, expected }) {
      await mustBeRunnable(edit.plan)
      let before = ''
      const contents = await store.update(
        caseId,
        (contents) => {
          allow(contents, sessionOf(contents, id))
          before = contents.texts!.plan
          if (expected !== undefined) mustBePlan(before, expected)
          const { plan, hypothesis } = edit
          const hypothesis_sha256 = hypothesis === undefined ? undefined : sha256(hypothesis)
          const hashed = { ...edit, sha256: sha256(plan), hypothesis_sha256 }
          return decide.editPlan(contents, id, hashed, now())
        },
        { texts: id, by },
      )
      await Promise.all([before, edit.plan].map(deps.plans.store))
      return contents
    },

    approve,

    async revise(caseId, id, { note, by }) {
      const present = await store.read(caseId)
      const session = decide.liveSession(present, id)
      nextState(session.state, 'revise')
      const send = await changeRequest(deps, session, note)
      if (session.origin === 'terminal') {
        let sent = ''
        const contents = await planAgain(session, send, by, (job, note) => {
          sent = note
          return planWithTalk(session, job)
        })
        conversations.sendBack(session, sent)
        return contents
      }
      const settings = await deps.settings()
      const provider = providerOf(session.provider, settings)
      const workdir = await workingFolder(layout.root, present.case.workdir, settings.folders)
      await mustTrustFiles(provider, { root: layout.root, folder: workdir }, settings.files)
      return planAgain(session, send, by, (job, sent) => plan(deps, job, provider, sent))
    },

    async abandon(caseId, id, { reason, by }) {
      const session = decide.liveSession(await store.read(caseId), id)
      nextState(session.state, 'abandon')
      await endInTime(session, jobs.end(id, 'abandon', { reason, by }))
      const contents = await store.read(caseId)
      if (sessionOf(contents, id).state === 'abandoned') return contents
      return store.update(caseId, (contents) => decide.abandon(contents, id, reason, now()), { by })
    },

    async leaveLine(caseId, id, { by }) {
      const session = decide.liveSession(await store.read(caseId), id)
      if (!jobs.find(id)?.inLine || !lineInQueue(session.trail)) throw notInLine(session)
      await endInTime(session, jobs.end(id, 'leave_line', { by }))
      return store.read(caseId)
    },

    walls: createExpectedWalls(deps),
    obstacle: jobs.obstacle,
    standing: jobs.standing,
    lastNumber: numbers.last,
    runs: () => [...jobs.active(), ...conversations.runs()],
    async noteDenied(id, denied) {
      const job = jobs.find(id)
      if (job) await noteDenied(deps, job, denied)
    },
    whileFree,
    stop: (id, reason) => jobs.end(id, 'abandon', { reason }),
    recover: () => recover(deps),
    async close() {
      conversations.close()
      await jobs.endAll('stop')
    },
  }

  async function endInTime(session: Session, ended: Promise<boolean>): Promise<void> {
    const late = delay(limits.recordEnd, 'late' as const, { ref: false })
    if ((await Promise.race([ended, late])) === 'late') throw stillOpen(session, limits.recordEnd)
  }

  return { sessions, conversations }
}

function notInLine({ number, state }: Session): AppError {
  const next = isActive(state) ? ' To stop it, abandon it.' : ''
  return new AppError('wrong_state', `Session ${number} is ${state}, and not in line.${next}`)
}

function stillOpen({ number }: Session, ms: number): AppError {
  return new AppError(
    'unreadable_file',
    `Session ${number} was stopped, but has not recorded its end within ${ms / 1000} s. If sessions/${number}.md cannot be written, fix it in an editor, then try again.`,
  )
}

const named = (case_id: string, session_id: string, number: number) => ({
  case_id,
  session_id,
  number,
})
