import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { isClosedState } from '../model/attention.ts'
import { type CaseContents, shownState } from '../model/case-contents.ts'
import { sendComments } from '../model/decide-comments.ts'
import * as decide from '../model/decide-session.ts'
import type { Actor } from '../model/history.ts'
import type { Session } from '../model/session.ts'
import { nextState } from '../model/session-state.ts'
import { lineInQueue } from '../model/trail.ts'
import { workingFolder } from '../settings/workdir.ts'
import { type SentSignature, takeSignature } from '../signing/approval-signature.ts'
import type { Conversations } from './conversations/conversations.ts'
import type { SessionDeps } from './deps.ts'
import { mustHaveRuntime } from './hosts.ts'
import { isolatedFolder } from './isolation-checks.ts'
import { providerOf } from './providers.ts'
import { type QueuedBase, queuedBase, queuedFields, runInTurn } from './queue.ts'
import { sessionComments } from './sent-notes.ts'
import type { SessionJobs } from './session-jobs.ts'
import { mustBeExecutable, mustBeRunnable, mustTrustFiles } from './start-checks.ts'
import { execute, type Worker } from './work-mode.ts'

/** Approves a plan, and starts to carry it out: at once, or with `queue` as soon as its folder is free. */
export type Approve = (
  caseId: string,
  id: string,
  asked: {
    plan_sha256?: string | undefined
    note?: string | undefined
    signature?: SentSignature | undefined
    queue?: boolean | undefined
    by: Actor
    /** The hash of the standing intent that approves it, in place of a person. */
    standing?: string | undefined
  },
) => Promise<CaseContents>

interface ApprovalDeps extends Omit<SessionJobs, 'whileFree'> {
  deps: SessionDeps
  conversations: Pick<Conversations, 'ofSession' | 'turnQueueOf' | 'letWork'>
}

export function createApproval({ deps, jobs, start, begin, conversations }: ApprovalDeps): Approve {
  const { store, layout, now } = deps

  async function approve(
    ...[
      caseId,
      id,
      { plan_sha256: expected, note, signature, queue = false, by, standing },
    ]: Parameters<Approve>
  ): Promise<CaseContents> {
    const present = await store.read(caseId)
    const session = decide.liveSession(present, id)
    if (lineInQueue(session.trail)) throw waitsAlready(session)
    nextState(session.state, 'approve')
    const { plan: text } = await deps.sessionTexts(caseId, session)
    if (expected === undefined)
      decide.requireReadPlan(session, sha256(text), deps.touchedInRun.has(id))
    const approved = expected ?? sha256(text)
    if (approved === sha256(text)) await mustBeRunnable(text)
    const { number } = session
    let notes = ''
    const work = {
      text,
      isChecked: approved === sha256(text),
      isStanding: standing !== undefined,
      letWork: () => {
        if (standing === undefined) conversations.letWork(session, { plan: text, notes, by })
      },
    }
    const { folder, home, isolated, worker } = await workerFor(present, session, work)
    const views = await sessionComments(deps, session)
    const signing = { layout, number, now: now(), ...(await deps.settings()) }
    const storeSignature = await takeSignature(
      { case_id: caseId, session_id: id, plan_sha256: approved },
      signature,
      signing,
    )
    const job = await start(
      {
        case_id: caseId,
        session_id: id,
        number,
        kind: 'work',
        folder,
        isolated,
      },
      { queue, canWait: session.origin !== 'terminal' },
    )
    const place = jobs.standing(id)
    let base: QueuedBase | null = null
    const approvedCase = await begin(job, async (decided) => {
      if (job.inLine) base = await queuedBase(deps, home, place)
      // no other approval can come from here on, but one may have been recorded meanwhile
      nextState(decide.liveSession(await store.read(caseId), id).state, 'approve')
      if (approved === sha256(text)) await storeSignature()
      const queued = base ? queuedFields(deps, place, base) : undefined
      deps.plans.add(text)
      return store.update(
        caseId,
        (contents) => {
          const onDisk = sha256(contents.texts!.plan)
          // the text that runs was read and checked above, so the file must still have it
          const shown = onDisk === approved ? sha256(text) : onDisk
          const sent = sendComments(contents.texts!.comments, views, { note, to: 'approve' })
          notes = sent.text
          const approval = { sha256: shown, approved, by, sent, standing }
          return decided(decide.approve(contents, id, approval, now(), queued))
        },
        { texts: id, by },
      )
    })
    const plan = { plan: text, notes }
    if (base) {
      const waiting = {
        session,
        approved: plan,
        wasClosed: isClosedState(shownState(present)),
        prepare: async () => workerFor(await store.read(caseId), session, work),
      }
      jobs.run(job, () => runInTurn(deps, jobs, job, waiting))
      return approvedCase
    }
    jobs.run(job, () => execute(deps, job, worker, { ...plan, start: null }))
    return approvedCase
  }

  /**
   * Who carries out the plan of a session, and in which folder; `home` is the working folder of its case. Throws if that
   * cannot be.
   */
  async function workerFor(
    { case: { workdir } }: CaseContents,
    session: Session,
    { text, isChecked, isStanding, letWork }: CheckedPlan,
  ): Promise<{ folder: string; home: string; isolated: boolean; worker: Worker }> {
    const settings = await deps.settings()
    await mustHaveRuntime(deps, settings)
    if (session.origin === 'terminal') {
      const turnQueue = conversations.turnQueueOf(session)
      // each call must lie within a standing intent
      turnQueue.scope = isStanding ? { paths: [], commands: [] } : (await readPlan(text)).scope
      turnQueue.prepare()
      const folder = folderInTerminal(conversations, session)
      return {
        folder,
        home: folder,
        isolated: false,
        worker: { is: 'terminal', turnQueue, letWork },
      }
    }
    const folder = await workingFolder(layout.root, workdir, settings.folders)
    const provider = providerOf(session.provider, settings)
    if (isChecked) await mustBeExecutable(text, provider)
    if (!(await readPlan(text)).isRunbook) {
      await mustTrustFiles(provider, { root: layout.root, folder }, settings.files)
    }
    const place = await isolatedFolder(deps, session, folder)
    const isolated = place !== null
    return { folder: place ?? folder, home: folder, isolated, worker: { is: 'provider', provider } }
  }

  return approve
}

/** A plan that is about to be approved. */
interface CheckedPlan {
  text: string
  /** It is the one that was approved. */
  isChecked: boolean
  isStanding: boolean
  letWork(): void
}

/** The folder that the agent of a session in a terminal works in. Throws `wrong_state` if that is not known here. */
export function folderInTerminal(
  conversations: Pick<Conversations, 'ofSession'>,
  { id, number }: Session,
): string {
  const conversation = conversations.ofSession(id)
  if (conversation) return conversation.folder
  throw new AppError(
    'wrong_state',
    `The conversation of session ${number} with its agent is not known on this machine, so its plan cannot be carried out. Abandon the session.`,
  )
}

function waitsAlready({ number }: Session): AppError {
  return new AppError('already_active', `Session ${number} is approved already, and waits in line.`)
}
