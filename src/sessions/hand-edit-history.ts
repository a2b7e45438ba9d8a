/** Records changes made by hand in history.md. */

import { setTimeout as delay } from 'node:timers/promises'
import type { PublishedChanges } from '../events/publisher.ts'
import { stampNow } from '../files/read-now.ts'
import { readRegular } from '../files/safe-read.ts'
import type { GitActivity } from '../git/activity.ts'
import { gitNamesOf } from '../git/contents.ts'
import { MAX_PROOF_BYTES } from '../markdown/proof-file.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, shownState } from '../model/case-contents.ts'
import { type CaseState, isCaseState } from '../model/case-state.ts'
import type { Changes } from '../model/changes.ts'
import { HISTORY_FILE, isEntryOf, stateAfterEntries, type TimedAct } from '../model/history.ts'
import { proofAct, sessionActs } from '../model/history-acts.ts'
import type { TimeLimits } from '../runners/time-limits.ts'
import type { Layout } from '../workspace/layout.ts'
import type { NotedAct, PendingHistory } from '../workspace/pending-history.ts'
import type { Store } from '../workspace/store.ts'

/**
 * Records in history.md what people change in the case files, once nobody has saved them for a while. Changes that
 * git brings are not recorded: git also brings the history lines of the machine that made them.
 */
export interface HandEditHistory {
  /** Call this when changes of a case are published. */
  onPublished(published: PublishedChanges): void
  /** Writes the entries that an earlier service left unwritten. */
  begin(): void
  close(): Promise<void>
}

export interface HandEditHistoryDeps {
  store: Pick<Store, 'appendHistory' | 'isWriting'>
  layout: Layout
  history: PendingHistory
  operator(): Promise<string>
  git: Pick<GitActivity, 'touched' | 'hasRunSince'>
  /** Whether the workspace's repository contains an object with one of these names. */
  isInGit(names: readonly string[]): Promise<boolean>
  limits: Pick<TimeLimits, 'handEdit'>
  now(): string
  log(line: string): void
}

const RETRY_MS = 10_000

export function createHandEditHistory(deps: HandEditHistoryDeps): HandEditHistory {
  const { store, layout, history, git, limits, log } = deps
  const timers = new Map<string, NodeJS.Timeout>()
  const writing = new Set<Promise<void>>()
  let closed = false

  function onPublished({ changes, source }: PublishedChanges): void {
    const { caseId, before, after } = changes
    if (!before || !after || source === 'service') return
    if (store.isWriting(caseId)) return
    const isOffline = source === 'offline'
    const isOther = changes.notes.includes(HISTORY_FILE)
    const isRecorded = isOffline && isOther
    for (const act of actsOf(changes)) {
      // recorded already by another machine (git brought its history) or by a service that was killed
      if (isRecorded && act.key !== 'state') continue
      const { file, folder, ...noted } = act
      const path = file === undefined ? folderOf(caseId, folder) : pathOf(caseId, file)
      if (file === undefined && isRemovedByGit(path)) continue
      const at = isOffline || file ? timeOf(path, deps.now()) : deps.now()
      history.note(caseId, { ...noted, path, at, isOffline })
    }
    // a killed service had written these lines, but not their acts
    for (const [id, { last }] of isOffline && !isOther ? after.sessions : []) {
      const known = before.sessions.get(id)?.last ?? 0
      if (last > known)
        history.note(caseId, {
          key: `trail ${id}`,
          at: deps.now(),
          from: `${known}`,
          isOffline,
        })
    }
    if (history.noted(caseId).length > 0) arm(caseId, isOffline ? 0 : limits.handEdit)
  }

  const pathOf = (caseId: string, file: string) => `${layout.caseFolder(caseId)}/${file}`

  /** The folder a file was deleted from. Git also removes a folder that becomes empty. */
  function folderOf(caseId: string, folder: string | undefined): string {
    const inside = folder === undefined ? null : pathOf(caseId, folder)
    return inside !== null && stampNow(inside) !== null ? inside : layout.caseFolder(caseId)
  }

  function arm(caseId: string, ms: number): void {
    if (closed) return
    clearTimeout(timers.get(caseId))
    timers.set(
      caseId,
      setTimeout(() => {
        timers.delete(caseId)
        write(caseId)
      }, ms),
    )
  }

  function write(caseId: string): void {
    const done: Promise<void> = appendEntries(caseId)
      .catch((error: unknown) => {
        const isGone = error instanceof AppError && error.code === 'not_found'
        if (isGone) history.forget(caseId)
        if (isGone || closed) return
        log(
          `could not record an edit by hand in the history of case ${caseId}, will retry: ${String(error)}`,
        )
        arm(caseId, RETRY_MS)
      })
      .finally(() => writing.delete(done))
    writing.add(done)
  }

  async function appendEntries(caseId: string): Promise<void> {
    const noted = history.noted(caseId)
    const by = { who: await deps.operator(), from: 'api' as const }
    const acts: NotedAct[] = []
    for (const act of noted) if (act.isOffline || !(await isInGit(act.path))) acts.push(act)
    await store.appendHistory(caseId, (contents) => acts.flatMap((act) => actOf(contents, act)), by)
    history.settled(caseId, noted)
  }

  function actOf(
    contents: CaseContents,
    { key, at, act, from, hasReason, path }: NotedAct,
  ): TimedAct[] {
    if (path !== undefined && isGits(path)) return []
    if (key === 'state') return stateAct(contents, at, from, hasReason === true)
    if (key.startsWith('trail '))
      return trailActs(contents, key.slice('trail '.length), Number(from))
    const isBack = contents.sessions.some(({ id }) => key === `session ${id}`)
    return isBack || !act ? [] : [{ at, act }]
  }

  /** A short git command may end before it is noticed. Its repository then contains the file. */
  async function isInGit(path: string | undefined): Promise<boolean> {
    const stamp = path === undefined ? null : stampNow(path)
    if (path === undefined || !stamp || !git.hasRunSince(stamp.ctimeMs)) return false
    const read = await readRegular(path, { maxBytes: MAX_PROOF_BYTES })
    return read.ok && deps.isInGit(gitNamesOf(read.bytes))
  }

  function isGits(path: string): boolean {
    const stamp = stampNow(path)
    return stamp !== null && git.touched(stamp.ctimeMs)
  }

  /** Git writes its index after it has removed files. */
  function isRemovedByGit(folder: string): boolean {
    const stamp = stampNow(folder)
    return stamp !== null && git.hasRunSince(stamp.ctimeMs)
  }

  return {
    onPublished,
    begin() {
      for (const caseId of history.notedCases()) arm(caseId, 0)
    },
    async close() {
      const waiting = [...timers.keys()]
      for (const timer of timers.values()) clearTimeout(timer)
      closed = true
      for (const caseId of waiting)
        if (areOlder(history.noted(caseId), limits.handEdit)) write(caseId)
      while (writing.size > 0) await Promise.race([Promise.allSettled(writing), delay(50)])
    },
  }
}

/** The acts of the audit lines after this number that the history does not have, each as often as the trail. */
function trailActs(
  { sessions, history = [] }: CaseContents,
  id: string,
  after: number,
): TimedAct[] {
  const session = sessions.find((each) => each.id === id)
  const left = history.filter((entry) => entry.session === session?.number)
  const missing: TimedAct[] = []
  for (const line of session?.trail ?? []) {
    for (const act of sessionActs(session!, [line], {}, null)) {
      const known = left.findIndex((entry) => isEntryOf(entry, act.act, line.time))
      if (known >= 0) left.splice(known, 1)
      else if (line.number > after) missing.push({ at: line.time, ...act })
    }
  }
  return missing
}

type FoundAct = Pick<NotedAct, 'key' | 'act' | 'from' | 'hasReason'> & {
  /** Relative to the folder of the case; none for a file that is gone. */
  file?: string
  /** The folder of a file that is gone. */
  folder?: string
}

function actsOf({ state, fields, proofs, goneSessions }: Changes): FoundAct[] {
  const acts: FoundAct[] = []
  if (state) {
    const hasReason = fields.includes('reason')
    acts.push({ key: 'state', from: state.from, hasReason, file: 'case.md' })
  }
  const names = fields.filter((name) => !(state && FIELDS_IN_STATE_LINE.has(name)))
  if (names.length > 0)
    acts.push({
      key: 'fields',
      act: { name: 'edited', fields: names, by_hand: true },
      file: 'case.md',
    })
  for (const { id, type, done } of proofs) {
    const where = done === 'deleted' ? { folder: 'proof' } : { file: `proof/${id}.md` }
    const act = { ...proofAct(done, { id, type }), by_hand: true } as const
    acts.push({ key: `proof ${id}`, act, ...where })
  }
  for (const { id, number } of goneSessions)
    acts.push({
      key: `session ${id}`,
      act: { name: 'session_deleted', session: number },
      folder: 'sessions',
    })
  return acts
}

/** Fields that the history line of a state change already mentions. */
const FIELDS_IN_STATE_LINE: ReadonlySet<string> = new Set(['reason', 'outcome'])
/** States whose line always quotes the reason, even if it was written earlier. */
const STATES_WITH_REASON: ReadonlySet<CaseState> = new Set(['BLOCKED', 'NEEDS_USER_INPUT'])

/** The state change that the history does not have yet, if there is one. */
function stateAct(
  contents: CaseContents,
  at: string,
  noted: string | undefined,
  hasReason: boolean,
): TimedAct[] {
  const state = shownState(contents)
  const from = stateAfterEntries(contents.history ?? []) ?? noted
  if (from === undefined || !isCaseState(from) || from === state) return []
  const isGateClosed = contents.case.state !== state
  const text = isGateClosed
    ? `case.md says ${contents.case.state}, which takes effect once the proof gate is open`
    : hasReason || STATES_WITH_REASON.has(state)
      ? contents.case.reason
      : null
  const outcome = (state === 'RESOLVED' && contents.case.outcome) || undefined
  const act = { name: 'state_changed', from, to: state, outcome, by_hand: true } as const
  return [{ at, act, ...(text ? { text } : {}) }]
}

/** When the file was saved, but never later than now. */
function timeOf(path: string, now: string): string {
  const stamp = stampNow(path)
  const saved = stamp ? new Date(stamp.mtimeMs).toISOString() : now
  return saved < now ? saved : now
}

function areOlder(acts: readonly NotedAct[], ms: number): boolean {
  return acts.every(({ at }) => Date.now() - Date.parse(at) > ms)
}
