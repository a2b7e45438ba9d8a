/**
 * Reads the files of one case: lists its folders, compares stamps, reads changed files. Requests, the start and the
 * refresher read cases with it.
 */

import { basename } from 'node:path'
import {
  type EntryKind,
  kindsIn,
  kindsNow,
  proofIds,
  sessionNumbers,
} from '../files/folder-names.ts'
import { isOfFolder, stampNow } from '../files/read-now.ts'
import { type FileStamp, sameStamp } from '../files/safe-read.ts'
import { isTempName } from '../files/temp-files.ts'
import { yieldIfBusy } from '../files/yielding.ts'
import { isConflictCopy } from '../model/conflict-copy.ts'
import { HISTORY_FILE } from '../model/history.ts'
import { isNoteName } from '../model/memory-name.ts'
import type { Problem } from '../model/problem.ts'
import { type CaseEntry, hasOpenSession } from './case-entry.ts'
import { latestIn } from './latest.ts'
import { type NoteFile, readNote } from './notes.ts'
import { isPictureFresh } from './pictures.ts'
import { isSettled } from './record-file.ts'
import {
  type ReaderDeps,
  readCaseRecord,
  readProofRecord,
  readSessionRecord,
} from './record-readers.ts'
import { unservedNames } from './unserved-names.ts'
import type { ReadPass } from './watching/stability.ts'

export interface ReadEntryDeps extends ReaderDeps {
  /** Called for a folder without records, with its problems. */
  sawNoCase?(caseId: string, problems: readonly Problem[]): void
  /** Whether history.md gets lines that the entry of the case has already. */
  isAppending?(caseId: string): boolean
  /** Called with the entries of a case folder, its sessions/ or its proof/, if no stamp of it was known. */
  sawFolder?(folder: string, kinds: ReadonlyMap<string, EntryKind>): void
}

/**
 * Reads a case from its folder. Files with a known stamp are not read again; of sessions and memory files only those in
 * `changed` are looked at, or all if it is null. Returns null if there is no folder, no
 * record in it, or a new folder whose case.md is not complete yet.
 */
export async function readCaseEntry(
  deps: ReadEntryDeps,
  id: string,
  known: CaseEntry | undefined,
  pass: ReadPass,
  changed: ReadonlySet<string> | null = null,
): Promise<CaseEntry | null> {
  const { layout } = deps
  const mayDiffer = (file: string) => changed === null || changed.has(file)
  const folders = new Map<string, FileStamp | null>()
  const emptiedByGit = new Set<string>()
  const problems: Problem[] = []
  const noteNames: string[] = []
  /** Returns the entries of a folder; null if it is not a folder, `hidden` if the service may not list it. */
  const listed = async (folder: string, name: string, stamp = stampNow(folder)) => {
    await yieldIfBusy() // listing many files takes long
    // take the stamp before the names, so that later changes give a newer one
    folders.set(name, stamp && isSettled(stamp) ? stamp : null)
    if (stamp && deps.isGits(stamp.ctimeMs)) emptiedByGit.add(name)
    const kinds = stamp && isOfFolder(stamp) ? kindsIn(folder) : kindsNow(folder)
    if (kinds === 'hidden') problems.push(hiddenProblem(name))
    else {
      const others = name === '.' ? await takeNotes(kinds, known, noteNames) : kinds
      problems.push(...conflictCopies(name, others), ...unservedNames(name, others))
    }
    if (kinds && kinds !== 'hidden') {
      deps.sawFolder?.(folder, kinds)
      // no stamp, so that the next start looks here for temporary files again
      if ([...kinds.keys()].some(isTempName)) folders.set(name, null)
    }
    return kinds
  }
  const inside = await listed(layout.caseFolder(id), '.')
  if (!inside) return null
  if (inside !== 'hidden') problems.push(...linkProblems(inside))
  /** Returns the keys of a folder's files; the known ones if it may not be listed. */
  const keysIn = async <K>(folder: string, keys: (names: string[]) => K[], was: Iterable<K>) => {
    const asKnown = { keys: [...was], latest: known?.latest ?? '' }
    const name = basename(folder)
    if (inside === 'hidden') return asKnown
    if (inside.get(name) !== 'folder') return { keys: keys([]), latest: '' }
    const stamp = stampNow(folder)
    const before = known?.folders.get(name)
    if (stamp && before && sameStamp(stamp, before)) {
      folders.set(name, stamp)
      if (deps.isGits(stamp.ctimeMs)) emptiedByGit.add(name)
      problems.push(...known!.problems.filter((each) => isOrIn(each.file, name)))
      return asKnown
    }
    const kinds = await listed(folder, name, stamp)
    if (kinds === 'hidden') return asKnown
    return { keys: keys([...(kinds?.keys() ?? [])]), latest: latestIn(folder, kinds) }
  }

  // a deleted folder changes the stamp of its parent folder
  const byGit = (name: string) => [name, '.'].some((each) => emptiedByGit.has(each))
  const file = await refreshed(layout.caseFile(id), known?.file, (record) =>
    readCaseRecord(deps, id, { known: record, pass }, hasOpenSession(known)),
  )
  if (!file) {
    deps.sawNoCase?.(id, problems)
    return null
  }
  const of = { id, title: file.value.title }
  const numbers = await keysIn(layout.sessions(id), sessionNumbers, known?.sessions.keys() ?? [])
  const sessions = await refreshedAll(
    {
      keys: numbers.keys,
      known: known?.sessions,
      pass,
      byGit: byGit('sessions'),
      isFresh: (number) => !mayDiffer(`sessions/${number}.md`),
    },
    (number) => layout.sessionFile(id, number),
    (number, record) => readSessionRecord(deps, of, number, { known: record, pass }),
  )
  const ids = await keysIn(layout.proofs(id), proofIds, known?.proofs.keys() ?? [])
  const proofs = await refreshedAll(
    { keys: ids.keys, known: known?.proofs, pass, byGit: byGit('proof'), isFresh: () => false },
    (proofId) => layout.proofFile(id, proofId),
    (proofId, record) => readProofRecord(deps, id, proofId, { known: record, pass }),
    (record) => isPictureFresh(layout, id, record),
  )
  const notes = await refreshedAll<string, NoteFile>(
    {
      keys: inside === 'hidden' ? [...(known?.notes.keys() ?? [])] : noteNames,
      known: known?.notes,
      pass,
      byGit: byGit('.'),
      isFresh: (name) => !mayDiffer(name),
      areNotes: true,
    },
    (name) => layout.memoryFile(id, name),
    (name, note) => {
      if (note && name === HISTORY_FILE && deps.isAppending?.(id)) return note
      const saw = deps.sawText?.bind(null, id, name)
      return readNote(layout.memoryFile(id, name), name, { known: note, pass, saw })
    },
  )
  // a branch switch leaves ignored files such as latest.md, which are not a case
  const isMissing = file.problems.some(({ code }) => code === 'missing')
  if (isMissing && sessions.size + proofs.size + notes.size === 0) {
    deps.sawNoCase?.(id, problems)
    return null
  }
  // clear the stamps, so that the next pass reads what this one left
  if (pass.retryInMs > 0 || pass.isPartial)
    for (const name of folders.keys()) folders.set(name, null)
  return {
    id,
    file,
    sessions,
    proofs,
    notes,
    folders,
    problems,
    vanished: known?.vanished === true,
    latest: numbers.latest,
  }
}

function isOrIn(file: string, folder: string): boolean {
  return file === folder || file.startsWith(`${folder}/`)
}

async function refreshed<T extends { stamp: FileStamp | null }>(
  path: string,
  known: T | undefined,
  read: (known: T | undefined) => Promise<T | null> | T | null,
): Promise<T | null> {
  if (known?.stamp) {
    const stamp = stampNow(path)
    if (stamp && sameStamp(stamp, known.stamp)) return known
  }
  return read(known)
}

/** Adds the names of memory files to `names`, and returns the other entries of the folder. */
async function takeNotes(
  kinds: ReadonlyMap<string, EntryKind> | null,
  known: CaseEntry | undefined,
  names: string[],
): Promise<Map<string, EntryKind>> {
  const others = new Map<string, EntryKind>()
  for (const [name, kind] of kinds ?? []) {
    if (known?.notes.has(name) || isNoteName(name)) names.push(name)
    else others.set(name, kind)
    await yieldIfBusy()
  }
  return others
}

/** How many memory files one pass reads: they are written in one transaction, which must not block for long. */
const MOST_NOTES = 10_000

interface Wanted<K, T> {
  keys: K[]
  known: Map<K, T> | undefined
  pass: ReadPass
  /** Whether git removed the missing files. */
  byGit: boolean
  /** Whether the known file need not be looked at. */
  isFresh(key: K): boolean
  areNotes?: boolean
}

async function refreshedAll<K, T extends { stamp: FileStamp | null }>(
  { keys, known = new Map(), pass, byGit, isFresh, areNotes = false }: Wanted<K, T>,
  path: (key: K) => string,
  read: (key: K, known: T | undefined) => Promise<T | null> | T | null,
  hasFreshPicture: (known: T) => boolean = () => true,
): Promise<Map<K, T>> {
  const files = new Map<K, T>()
  let isSame = keys.length === known.size
  let reads = 0
  for (const key of keys) {
    const was = known.get(key)
    if (was?.stamp && isFresh(key)) {
      files.set(key, was)
      continue
    }
    if (areNotes && reads >= MOST_NOTES) {
      if (was) files.set(key, { ...was, stamp: null })
      pass.isPartial = true
      isSame = false
      continue
    }
    const present = was && (hasFreshPicture(was) ? was : { ...was, stamp: null })
    const file = await refreshed(path(key), present, (each) => read(key, each))
    if (file) files.set(key, file)
    isSame &&= file === was
    if (file !== was) reads++
    await yieldIfBusy()
  }
  if (isSame) return known
  for (const [key, file] of known) {
    // some editors delete a file and write it again; git does not
    if (files.has(key) || byGit || pass.accept(path(key), gone, false, areNotes)) continue
    files.set(key, { ...file, stamp: null })
  }
  return files
}

const gone = () => null

function conflictCopies(folder: string, kinds: ReadonlyMap<string, EntryKind> | null): Problem[] {
  return [...(kinds?.keys() ?? [])]
    .map((name) => (folder === '.' ? name : `${folder}/${name}`))
    .filter(isConflictCopy)
    .map(conflictCopyProblem)
}

export function conflictCopyProblem(file: string): Problem {
  const message =
    'this is another version of the file beside it, from a save at the same moment, a sync, or a program that copies files. It is not read: copy what you need, then delete it'
  return { code: 'conflict_copy', file, line: null, message }
}

function linkProblems(inside: ReadonlyMap<string, EntryKind>): Problem[] {
  const message =
    'this folder is a symbolic link, which is not followed: put the folder itself here'
  return ['sessions', 'proof', 'artifacts']
    .filter((name) => inside.get(name) === 'link')
    .map((file) => ({ code: 'symbolic_link', file, line: null, message }))
}

export function hiddenProblem(file: string): Problem {
  const message =
    'the service has no permission to list this folder; the last known content is served'
  return { code: 'unreadable', file, line: null, message }
}
