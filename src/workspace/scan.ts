/**
 * Reads cases again: one that the synchronizer names, or all at a start and in a rescan. What it finds goes to the
 * publisher, which makes the events.
 */

import { realpath } from 'node:fs/promises'
import { kindsNow } from '../files/folder-names.ts'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import { isOfFolder, stampNow } from '../files/read-now.ts'
import { forEachLimited, yieldIfBusy } from '../files/yielding.ts'
import type { Problem } from '../model/problem.ts'
import { UUID } from '../model/words.ts'
import type { KnownCase } from '../state/cases.ts'
import type { CaseChange, CaseEntry, Change } from './case-entry.ts'
import { type CaseLookDeps, gone, hiddenProblem, lookAtCase } from './case-look.ts'
import { isUnchanged } from './case-stamps.ts'
import type { Catalog } from './catalog.ts'
import { differences } from './differences.ts'
import type { Latest } from './latest.ts'
import { restoreMissingSession } from './restore-missing.ts'
import { isEditorFile } from './sync/editor-files.ts'
import {
  type AcceptPolicy,
  createReadPass,
  type ReadPass,
  type StabilityDetector,
} from './sync/stability.ts'

/** Reads changed files into the catalog, and publishes what it finds while it has the case's mutex. */
export interface Scan {
  /** Whether the folder of all cases could be listed. If not, no case is known to be gone. */
  canList(): boolean
  /** Looks at every file of one case by its stamp, and reads those that differ. The caller has its mutex. */
  one(id: string, accept?: AcceptPolicy, written?: Written): Promise<ReadPass>
  /** The names under cases/ only: cases that came or went. */
  names(): Promise<void>
  /**
   * Every file of every case; rejects with the signal's reason once that is aborted. Returns the cases of which a file
   * looked half-saved, and so was not accepted.
   */
  all(accept?: AcceptPolicy, signal?: AbortSignal): Promise<string[]>
  /** Names under cases/ that are no case, or why it cannot be looked into: problems of the workspace. */
  unknownEntries(): Problem[]
}

/** What a request has just written: paths that count as complete, and which memory files are among them. */
export interface Written {
  paths: readonly string[]
  notes: readonly string[]
}

export interface ScanDeps extends CaseLookDeps {
  catalog: Catalog
  mutex: KeyedMutex
  stability: StabilityDetector
  /** Called for every case that may have changed, with what of its records has. */
  publish(change: CaseChange): void
  /** Cases as an earlier service stored them: believed by the first look where their files have not changed. */
  rowFromLastRun?(id: string): KnownCase | undefined
  /** Sets latest.md; a look that leaves no trace has none. */
  latest?: Latest
  /** Called when files of a case are left for a read in `ms`. */
  onUnstable(caseId: string, ms: number): void
}

export function createScan(deps: ScanDeps): Scan {
  const { layout, catalog, mutex, publish } = deps
  let isListed = true
  let unknownEntries: Problem[] = []
  /** Problems of folders without any record, by the id in their name. */
  const noCases = new Map<string, Problem[]>()
  const looking: ScanDeps = {
    ...deps,
    sawNoCase: (id, problems) => {
      const file = (each: string) => `cases/${id}/${each}`
      noCases.set(
        id,
        problems.map((problem) => ({ ...problem, file: file(problem.file) })),
      )
    },
  }

  async function one(
    id: string,
    accept: AcceptPolicy = 'stable',
    written?: Written,
  ): Promise<ReadPass> {
    const pass = createReadPass(deps.stability, accept, written?.paths)
    const wrote = written?.notes ?? []
    const stored = catalog.has(id) ? undefined : deps.rowFromLastRun?.(id)
    const stamps = stored ?? catalog.known(id)
    if (wrote.length === 0 && stamps && isUnchanged(stamps, layout.caseFolder(id))) {
      if (stored) catalog.takeStored(stored)
      return pass
    }
    const known = catalog.entry(id)
    const restored = known ? await restoreMissingSession(deps, known) : false
    noCases.delete(id)
    const entry = await lookAtCase(looking, id, known, pass)
    if (entry) {
      bring(known, entry, { restored, wrote })
      await deps.latest?.update(catalog.entry(id)!)
    } else if (!known || !isReplaced()) {
      if (known && pass.accept(layout.caseFolder(id), gone, 'complete')) drop(known, wrote)
      else if (wrote.length > 0) publish({ caseId: id, found: [], source: 'service', wrote })
      await deps.latest?.clear(id)
    }
    if (pass.retryInMs > 0) deps.onUnstable(id, pass.retryInMs)
    return pass
  }

  /** Whether something else is in the place of the folder of cases; while nothing is, the cases are gone. */
  function isReplaced(): boolean {
    const stamp = stampNow(layout.cases)
    return stamp !== null && !isOfFolder(stamp)
  }

  function bring(
    known: CaseEntry | undefined,
    entry: CaseEntry,
    { restored, wrote }: { restored: boolean; wrote: readonly string[] },
  ): void {
    entry.vanished ||= restored
    const changes = differences(known, entry)
    if (
      known &&
      !restored &&
      known.file.mtimeMs === entry.file.mtimeMs &&
      known.strayLatest === entry.strayLatest &&
      changes.length === 0 &&
      wrote.length === 0 &&
      sameNotes(known, entry) &&
      JSON.stringify(problemsOf(known)) === JSON.stringify(problemsOf(entry))
    ) {
      catalog.refresh(entry)
      return
    }
    catalog.put(entry)
    publish({ caseId: entry.id, found: changes, source: 'editor', wrote })
  }

  function drop({ id, file }: CaseEntry, wrote: readonly string[]): void {
    catalog.remove(id)
    const found: Change[] = [{ kind: 'case', case_id: id, before: file.value, after: null }]
    publish({ caseId: id, found, source: 'editor', wrote })
  }

  /** `done` gets each case that came or went, as it was read. */
  async function names(
    accept?: AcceptPolicy,
    signal?: AbortSignal,
    done?: (id: string, pass: ReadPass) => void,
  ): Promise<void> {
    await yieldIfBusy()
    const known = catalog.ids() // before the look: what is made meanwhile is not missing
    const inside = kindsNow(layout.cases)
    const wrong = await casesProblem(layout.cases, inside)
    if (wrong) unknownEntries = [wrong]
    isListed = wrong === null
    if (wrong || inside === 'hidden') return // known cases are still served
    const found = [...(inside?.keys() ?? [])]
    const present = new Set(found.filter((name) => UUID.test(name)))
    const fresh = [...present].filter((id) => !catalog.has(id))
    for (const id of noCases.keys()) if (!present.has(id)) noCases.delete(id)
    const missing = known.filter((id) => !present.has(id))
    await forEachLimited([...missing, ...fresh], async (id) => {
      signal?.throwIfAborted()
      const pass = await mutex.run(id, () => one(id, accept))
      done?.(id, pass)
    })
    const links = fresh.filter((id) => inside?.get(id) !== 'folder')
    unknownEntries = found
      .filter((name) => !UUID.test(name) && !name.startsWith('.'))
      .filter((name) => inside?.get(name) === 'folder' || !isEditorFile(name))
      .concat(links)
      .map(strangerProblem)
  }

  async function all(accept: AcceptPolicy = 'anything', signal?: AbortSignal): Promise<string[]> {
    const halfSaved: string[] = []
    const done = (id: string, { isHalfSaved }: ReadPass) => {
      if (isHalfSaved) halfSaved.push(id)
    }
    const known = catalog.ids()
    await names(accept, signal, done)
    await forEachLimited(
      known.filter((id) => catalog.has(id)),
      async (id) => done(id, await mutex.run(id, () => one(id, accept))),
    )
    return halfSaved
  }

  return {
    one,
    names: () => names(),
    all,
    canList: () => isListed,
    unknownEntries: () => [...unknownEntries, ...[...noCases.values()].flat()],
  }
}

function sameNotes(before: CaseEntry, after: CaseEntry): boolean {
  if (before.notes.size !== after.notes.size) return false
  return [...after.notes].every(([name, { hash }]) => before.notes.get(name)?.hash === hash)
}

function problemsOf(entry: CaseEntry): Problem[] {
  const { file, sessions, proofs, notes, problems } = entry
  return [file, ...sessions.values(), ...proofs.values(), ...notes.values()]
    .flatMap((each) => each.problems)
    .concat(problems)
}

/** Why no case is read from the folder of all cases, or none. */
async function casesProblem(
  cases: string,
  inside: ReturnType<typeof kindsNow>,
): Promise<Problem | null> {
  if (inside === 'hidden') return hiddenProblem('cases')
  const inPlace = inside === null ? stampNow(cases) === null : (await realpath(cases)) === cases
  if (inPlace) return null
  const message =
    'this is no folder or reached by a symbolic link, which is not followed, so no case is read from it: put the folder itself here'
  return { code: 'symbolic_link', file: 'cases', line: null, message }
}

function strangerProblem(name: string): Problem {
  const message = UUID.test(name)
    ? `"${name}" is no folder (a file or a symbolic link), so no case is read from it`
    : `"${name}" is no case id: a case's folder is named by a lower-case UUID`
  return { code: 'bad_name', file: `cases/${name}`, line: null, message }
}
