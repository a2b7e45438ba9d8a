/** Reacts to edits of session and proof files by hand: `state: abandoned`, a changed plan, a new proof. */

import { setTimeout as delay } from 'node:timers/promises'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { afterHandEdit, changedTrails, restoreTrail } from '../model/decide-by-hand.ts'
import { hasHadComments } from '../model/decide-comments.ts'
import { stampProof } from '../model/decide-proof.ts'
import { isToBeStamped, type Proof } from '../model/proof.ts'
import { hasProof, isSealed, type Session } from '../model/session.ts'
import type { Texts } from '../workspace/long-texts.ts'
import type { SessionDeps } from './deps.ts'
import { updateCounted } from './proof-content.ts'
import type { RunGuard } from './run-guard.ts'

/** Carries out what a person's edit of a session or proof file asks for. */
export interface HandEdits {
  /** Call this when files of a case were changed by anything but this service. */
  onFileEdit(caseId: string): void
  close(): Promise<void>
}

export interface HandEditDeps
  extends Pick<
    SessionDeps,
    'store' | 'catalog' | 'plans' | 'now' | 'log' | 'touchedInRun' | 'limits'
  > {
  texts: Texts
  runGuard: Pick<RunGuard, 'isWatching'>
  /** Stops a session's run and waits for its recorded end. */
  stop(id: string, reason: string): Promise<boolean>
  running: ReadonlySet<string>
  operator(): Promise<string>
}

/** The delay before another attempt, for example while git is running. */
const RETRY_MS = 10_000

export function createHandEdits(deps: HandEditDeps): HandEdits {
  const { store, catalog, running, touchedInRun, now, log } = deps
  const quietMs = deps.limits.handEdit
  const timers = new Map<string, NodeJS.Timeout>()
  const answering = new Set<Promise<void>>()
  /** By proof id: the hash of the proof file whose test counts were computed from its content. */
  const counted = new Map<string, string>()
  const startedMs = Date.now()
  let closed = false

  function onFileEdit(caseId: string): void {
    const contents = catalog.folder(caseId)
    if (!contents || closed) return
    for (const { id, byHand } of contents.sessions) {
      if (byHand !== 'abandoned' || !running.has(id)) continue
      begin(async () => {
        await deps.stop(id, 'state: abandoned was set in the file by hand')
      })
    }
    if (deps.runGuard.isWatching()) {
      for (const { id, state } of contents.sessions) {
        // an approved plan that waits in line may have to be approved again
        if (state === 'plan_ready' || state === 'approved') touchedInRun.add(id)
      }
    }
    if (isConcerned(caseId, contents)) arm(caseId, quietMs)
  }

  function isConcerned(caseId: string, contents: CaseContents): boolean {
    return dueSessions(contents).length > 0 || toBeStamped(caseId).length > 0
  }

  /** Proofs as their files have them, even while a run's frozen values hide changes. */
  function toBeStamped(caseId: string): { proof: Proof; mtimeMs: number }[] {
    const records = [...(catalog.entry(caseId)?.proofs.values() ?? [])]
    return records.flatMap(({ value: proof, readable, mtimeMs, hash }) => {
      if (!proof || !readable) return []
      // a person may have written counts that do not match the content
      const isEdited = proof.intact && mtimeMs > startedMs && counted.get(proof.id) !== hash
      return isToBeStamped(proof) || isEdited ? [{ proof, mtimeMs }] : []
    })
  }

  function dueSessions(contents: CaseContents): Session[] {
    const changed = changedTrails(contents)
    return contents.sessions.filter((each) => changed.has(each) || isDue(each, contents))
  }

  function isDue(session: Session, contents: CaseContents): boolean {
    if (running.has(session.id)) return false
    const waitsForSeal = session.state === 'complete' && !isSealed(session)
    return (
      session.byHand !== undefined ||
      session.state === 'plan_ready' ||
      (waitsForSeal && hasHadComments(session)) ||
      (waitsForSeal && hasProof(session, contents.proofs))
    )
  }

  function arm(caseId: string, ms: number): void {
    clearTimeout(timers.get(caseId))
    timers.set(
      caseId,
      setTimeout(() => {
        timers.delete(caseId)
        begin(() => answer(caseId))
      }, ms),
    )
  }

  function begin(work: () => Promise<void>): void {
    const done: Promise<void> = work()
      .catch((error: unknown) => log(`could not process an edit by hand: ${reasonOf(error)}`))
      .finally(() => answering.delete(done))
    answering.add(done)
  }

  async function answer(caseId: string): Promise<void> {
    const contents = catalog.folder(caseId)
    if (!contents || closed) return
    const entry = catalog.entry(caseId)!
    for (const session of dueSessions(contents)) {
      const record = entry.sessions.get(session.number)!
      const rest = quietIn(record.mtimeMs, quietMs)
      if (rest > 0) arm(caseId, rest)
      else if (record.readable) await orLater(caseId, () => answerIn(caseId, session))
    }
    for (const { proof, mtimeMs } of toBeStamped(caseId)) {
      const rest = quietIn(mtimeMs, quietMs)
      if (rest > 0) arm(caseId, rest)
      else await orLater(caseId, () => stamp(caseId, proof.id))
    }
  }

  /** If the work cannot be done now, it is scheduled again; other edits are not affected. */
  async function orLater(caseId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof AppError) || closed) throw error
      log(`could not process an edit by hand in case ${caseId}, will retry: ${error.message}`)
      arm(caseId, RETRY_MS)
    }
  }

  /** For a proof written by hand: adds the hash of its content and counts the tests in its report. */
  async function stamp(caseId: string, proofId: string): Promise<void> {
    await updateCounted(deps, caseId, proofId, (contents, found) =>
      stampProof(contents, proofId, found),
    )
    counted.set(proofId, catalog.entry(caseId)?.proofs.get(proofId)?.hash ?? '')
  }

  async function answerIn(caseId: string, { id, state }: Session): Promise<void> {
    const wantsTexts = state === 'plan_ready' || state === 'complete'
    let edited = ''
    const by = { who: await deps.operator(), from: 'api' as const }
    await store.update(
      caseId,
      (contents) => {
        if (!contents.sessions.some((session) => session.id === id)) return []
        if (running.has(id)) return restoreTrail(contents, id)
        const { plan, hypothesis } = contents.texts ?? {}
        const texts =
          plan === undefined || hypothesis === undefined
            ? null
            : { plan: sha256(plan), hypothesis: sha256(hypothesis) }
        const inRun = touchedInRun.has(id)
        const edits = afterHandEdit(contents, id, texts, { now: now(), inRun })
        edited = edits.length > 0 && state === 'plan_ready' ? (plan ?? '') : ''
        return edits
      },
      wantsTexts ? { texts: id, by } : { by },
    )
    await deps.plans.store(edited)
  }

  /** At shutdown, without waiting: lines that only this process remembers would be lost. */
  async function restoreTrails(caseId: string): Promise<void> {
    const contents = catalog.folder(caseId)
    for (const session of contents ? changedTrails(contents) : []) {
      await store.update(caseId, (present) => {
        const isThere = present.sessions.some(({ id }) => id === session.id)
        return isThere ? restoreTrail(present, session.id) : []
      })
    }
  }

  return {
    onFileEdit,
    async close() {
      closed = true
      for (const timer of timers.values()) clearTimeout(timer)
      for (const caseId of timers.keys()) begin(() => restoreTrails(caseId))
      while (answering.size > 0) await Promise.race([Promise.allSettled(answering), delay(50)])
    },
  }
}

/** Milliseconds until the file has gone unsaved for `quietMs`. */
function quietIn(mtimeMs: number, quietMs: number): number {
  const rest = mtimeMs + quietMs - Date.now()
  return rest > quietMs ? 0 : Math.max(0, rest)
}

function reasonOf(error: unknown): string {
  return error instanceof AppError ? error.message : String((error as Error)?.stack ?? error)
}
