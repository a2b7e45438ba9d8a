/**
 * Reads cases from their files: one case on request of the refresher, or all at start and in a rescan. The
 * publisher turns the changes into events.
 */

import { realpath } from 'node:fs/promises'
import { isFolderNow, kindsNow } from '../files/folder-names.ts'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import { isOfFolder, stampNow } from '../files/read-now.ts'
import { forEachLimited, pendingEvents, yieldIfBusy } from '../files/yielding.ts'
import { isConflictCopy } from '../model/conflict-copy.ts'
import { UUID } from '../model/name-patterns.ts'
import type { Problem } from '../model/problem.ts'
import { type CaseChange, type CaseEntry, isSameCase } from './case-entry.ts'
import { hasMany, isUnchanged } from './index/case-stamps.ts'
import type { Catalog } from './index/catalog.ts'
import type { Latest } from './latest.ts'
import {
  conflictCopyProblem,
  hiddenProblem,
  type ReadEntryDeps,
  readCaseEntry,
} from './read-case-entry.ts'
import { restoreMissingSession } from './restore-missing.ts'
import { isEditorFile } from './watching/editor-files.ts'
import {
  type AcceptPolicy,
  createReadPass,
  createStabilityDetector,
  type ReadPass,
} from './watching/stability.ts'

/** Reads changed files into the catalog and publishes the changes, with the case's mutex. */
export interface Scan {
  /** Whether the folder of all cases could be listed. If not, missing cases do not count as deleted. */
  canList(): boolean
  /** Reads the files of one case whose stamps differ. The caller has its mutex. */
  readCase(id: string, accept?: AcceptPolicy, written?: Written): Promise<ReadPass>
  /** Compares only the names under cases/, to find new and deleted cases. */
  compareNames(): Promise<void>
  /**
   * Reads all cases; rejects with the signal's reason when aborted. Returns the cases with a file that looked
   * half-saved and was not accepted.
   */
  readAll(accept?: AcceptPolicy, signal?: AbortSignal): Promise<string[]>
  /** Workspace problems: names under cases/ that are not cases, conflict copies outside of cases, or why cases/ cannot be listed. */
  unknownEntries(): Problem[]
}

/** What a request has just written: paths that are accepted as complete, and the names of memory files among them. */
export interface Written {
  paths: readonly string[]
  notes: readonly string[]
}

export interface ScanDeps extends ReadEntryDeps {
  catalog: Catalog
  mutex: KeyedMutex
  /** Called for every case that may have changed, with its changes. */
  publish(change: CaseChange): void
  /** Sets latest.md; undefined for commands that only read. */
  latest?: Latest
  /** Called when `unknownEntries` may have changed. */
  sawNames?(): void
  /** Called when files of a case must be read again in `ms`. */
  onUnstable(caseId: string, ms: number): void
  /**
   * Returns the sessions and memory files of a case that changed since this was called last; null if any may have.
   */
  takeChanged?(caseId: string): ReadonlySet<string> | null
  /** Called if they could not be read: any may have changed. */
  mustReadAll?(caseId: string): void
}

const MISSING_MS = 1000

export function createScan(deps: ScanDeps): Scan {
  const { layout, catalog, mutex, publish } = deps
  const stability = createStabilityDetector()
  let isListed = true
  /** When cases/ was first seen to be missing. */
  let missingSince: number | null = null
  /** The cases/ whose missing cases are gone. In another one they may be just being copied. */
  let wholeFolder: number | undefined
  let unknownEntries: Problem[] = []
  /** Problems of folders under cases/ that have a case id as name but no case in them, by id. */
  const problemsWithoutCase = new Map<string, Problem[]>()
  const readDeps: ScanDeps = {
    ...deps,
    sawNoCase: (id, problems) => {
      const file = (each: string) => `cases/${id}/${each}`
      problemsWithoutCase.set(
        id,
        problems.map((problem) => ({ ...problem, file: file(problem.file) })),
      )
      deps.sawNames?.()
    },
  }

  async function readCase(
    id: string,
    accept: AcceptPolicy = 'complete',
    written?: Written,
  ): Promise<ReadPass> {
    const isMany = hasMany(catalog.lastStamps(id))
    if (isMany) await pendingEvents()
    const changed = deps.takeChanged?.(id) ?? null
    let isRead = false
    try {
      let pass = await readChanged(id, isMany ? changed : null, accept, written)
      while (pass.isPartial) pass = await readChanged(id, isMany ? changed : null, accept)
      isRead = pass.retryInMs === 0
      return pass
    } finally {
      if (!isRead) deps.mustReadAll?.(id)
    }
  }

  /** `changed`: the sessions and memory files to look at; null for all. */
  async function readChanged(
    id: string,
    changed: ReadonlySet<string> | null,
    accept: AcceptPolicy,
    written?: Written,
  ): Promise<ReadPass> {
    const pass = createReadPass(stability, accept, written?.paths)
    const writtenNotes = written?.notes ?? []
    const stamps = catalog.lastStamps(id)
    const folder = layout.caseFolder(id)
    if (writtenNotes.length === 0 && stamps && (await isUnchanged(stamps, folder, changed))) {
      catalog.adopt(id)
      return pass
    }
    await catalog.loadInParts(id)
    const known = catalog.lastEntry(id)
    const restored = known ? await restoreMissingSession(deps, known) : false
    problemsWithoutCase.delete(id)
    let entry = await readCaseEntry(readDeps, id, known, pass, changed)
    if (!entry && known) {
      let waitMs = casesFolderWait(accept)
      // cases/ may have come back between the two looks
      if (waitMs === 0 && isFolderNow(folder)) {
        entry = await readCaseEntry(readDeps, id, known, pass, changed)
        if (!entry) waitMs = casesFolderWait(accept)
      }
      if (waitMs > 0 && !entry) {
        if (waitMs < Infinity) deps.onUnstable(id, waitMs)
        return pass
      }
    }
    if (entry) {
      await yieldIfBusy()
      missingSince = null
      applyEntry(known, entry, { restored, wrote: writtenNotes })
      await deps.latest?.update(catalog.entry(id)!)
    } else {
      if (known) catalog.remove(id)
      if (known || writtenNotes.length > 0)
        publish({ caseId: id, source: known ? 'editor' : 'service', wrote: writtenNotes })
      await deps.latest?.clear(id)
    }
    if (pass.retryInMs > 0) deps.onUnstable(id, pass.retryInMs)
    return pass
  }

  /**
   * After how many ms a case whose folder is missing is gone: a cases/ that is missing in its memory root may be just
   * being replaced, also by a copy that is still being made. Infinity if something that is no folder replaced it.
   */
  function casesFolderWait(accept: AcceptPolicy): number {
    const stamp = stampNow(layout.cases)
    const now = performance.now()
    missingSince = stamp === null ? (missingSince ?? now) : null
    if (stamp !== null) {
      if (!isOfFolder(stamp)) return Infinity
      const quietMs = Date.now() - stamp.ctimeMs
      if (accept === 'anything' || quietMs >= MISSING_MS) wholeFolder = stamp.ino
      return stamp.ino === wholeFolder ? 0 : Math.min(MISSING_MS, MISSING_MS - quietMs)
    }
    const isRootGone = stampNow(layout.memoryRoot) === null
    return accept === 'anything' || isRootGone ? 0 : Math.max(0, missingSince! + MISSING_MS - now)
  }

  /** Puts a case that was just read into the catalog, and publishes what has changed. */
  function applyEntry(
    known: CaseEntry | undefined,
    entry: CaseEntry,
    { restored, wrote }: { restored: boolean; wrote: readonly string[] },
  ): void {
    entry.vanished ||= restored
    if (known && !restored && wrote.length === 0 && isSameCase(known, entry)) {
      catalog.refresh(entry)
      return
    }
    catalog.put(entry)
    publish({ caseId: entry.id, source: 'editor', wrote })
  }

  /** Compares the names under cases/ with the known cases. `onRead` is called for each new or deleted case after it was read. */
  async function compareNames(
    accept?: AcceptPolicy,
    signal?: AbortSignal,
    onRead?: (id: string, pass: ReadPass) => void,
  ): Promise<void> {
    await yieldIfBusy()
    const known = catalog.ids() // before listing, so that cases created since are not missing
    const entries = kindsNow(layout.cases)
    if (entries !== null) missingSince = null
    const problem = await findCasesProblem(layout.cases, entries)
    if (problem) unknownEntries = [problem]
    isListed = problem === null
    if (problem || entries === 'hidden') return // known cases are still served
    const names = [...(entries?.keys() ?? [])]
    const present = new Set(names.filter((name) => UUID.test(name)))
    const added = [...present].filter((id) => !catalog.has(id))
    for (const id of problemsWithoutCase.keys())
      if (!present.has(id)) problemsWithoutCase.delete(id)
    const missing = known.filter((id) => !present.has(id))
    if (missing.length === 0) wholeFolder = stampNow(layout.cases)?.ino
    await forEachLimited([...missing, ...added], async (id) => {
      signal?.throwIfAborted()
      const pass = await mutex.run(id, () => readCase(id, accept))
      onRead?.(id, pass)
    })
    const links = added.filter((id) => entries?.get(id) !== 'folder')
    const others = names.filter((name) => !UUID.test(name))
    const unknown = others
      .filter((name) => !name.startsWith('.') && !isConflictCopy(name))
      .filter((name) => entries?.get(name) === 'folder' || !isEditorFile(name))
      .concat(links)
    const beside = kindsNow(layout.memoryRoot)
    const copies = [
      ...(beside === null || beside === 'hidden' ? [] : beside.keys()),
      ...others.map((name) => `cases/${name}`),
    ].filter(isConflictCopy)
    unknownEntries = [...unknown.map(unknownEntryProblem), ...copies.map(conflictCopyProblem)]
  }

  async function readAll(
    accept: AcceptPolicy = 'anything',
    signal?: AbortSignal,
  ): Promise<string[]> {
    const halfSaved: string[] = []
    const onRead = (id: string, { retryInMs }: ReadPass) => {
      if (retryInMs > 0) halfSaved.push(id)
    }
    const known = catalog.ids()
    await compareNames(accept, signal, onRead)
    await forEachLimited(
      known.filter((id) => catalog.has(id)),
      async (id) => {
        signal?.throwIfAborted()
        onRead(id, await mutex.run(id, () => readCase(id, accept)))
      },
    )
    return halfSaved
  }

  return {
    readCase,
    async compareNames() {
      await compareNames()
      deps.sawNames?.()
    },
    readAll,
    canList: () => isListed,
    unknownEntries: () => [...unknownEntries, ...[...problemsWithoutCase.values()].flat()],
  }
}

/** Returns the problem that prevents reading cases/, or null. */
async function findCasesProblem(
  cases: string,
  entries: ReturnType<typeof kindsNow>,
): Promise<Problem | null> {
  if (entries === 'hidden') return hiddenProblem('cases')
  const isRealFolderOrMissing =
    entries === null ? stampNow(cases) === null : (await realpath(cases)) === cases
  if (isRealFolderOrMissing) return null
  const message =
    'this is not a folder or is reached by a symbolic link, which is not followed, so no cases are read: replace it with the folder itself'
  return { code: 'symbolic_link', file: 'cases', line: null, message }
}

function unknownEntryProblem(name: string): Problem {
  const message = UUID.test(name)
    ? `"${name}" is not a folder (but a file or a symbolic link), so it is not read as a case`
    : `"${name}" is not a case id: the folder of a case is named by a lower-case UUID`
  return { code: 'bad_name', file: `cases/${name}`, line: null, message }
}
