/** Merges two versions of a case folder, as `casefile sync` does. Nothing of either side is lost: see `copies`. */

import { isConflictCopy } from '../../model/conflict-copy.ts'
import { RUNBOOK_FILE } from '../../model/memory-name.ts'
import { CASE_FILE, MAX_CASE_BYTES } from '../case-file.ts'
import { conflictName } from '../conflict-name.ts'
import { choose, type Versions } from '../merge.ts'
import { MAX_PROOF_BYTES } from '../proof-file.ts'
import {
  bytesOf,
  type Folder,
  type FolderVersions,
  isRegular,
  type MergedFile,
  type MergeFile,
  modeOf,
  type NewFile,
  SIDES,
  type Side,
  sameFile,
  textFile,
  textOf,
} from './folder.ts'
import { mergeCaseFile } from './merge-case-file.ts'
import { mergeHistory } from './merge-history.ts'
import { mergeProof } from './merge-proof.ts'
import { isSessionPath, mergeSessions } from './merge-sessions.ts'
import { type MergedText, mergeNewText, mergeText } from './merge-text.ts'

export interface FolderMerge {
  files: Map<string, MergedFile>
  /** Versions that could not be merged, kept beside the file. */
  copies: { path: string; copy: string }[]
  renumbered: { id: string; from: number; to: number }[]
  /** Whether one side deleted the case, and it stays because the other changed it. */
  isRestored: boolean
}

interface Unmerged {
  path: string
  file: MergedFile
}

export interface FolderMergeOptions {
  caseId: string
  /** ISO 8601 UTC with milliseconds, for the names of conflict copies. */
  time: string
  /** The highest session number that was ever given on this machine. */
  lastNumber?: number
}

/**
 * Merges two versions of a case folder that have `base` in common (empty if there is none). Where both changed the
 * same, ours stays, and theirs becomes a conflict copy. Merging the result with either side gives the result again.
 */
export async function mergeCaseFolder(
  folders: FolderVersions,
  { caseId, time, lastNumber = 0 }: FolderMergeOptions,
): Promise<FolderMerge> {
  const { base, ours, theirs } = folders
  const isDeleted = base.size > 0 && (ours.size === 0) !== (theirs.size === 0)
  if (isDeleted) {
    const left = ours.size === 0 ? theirs : ours
    const isRestored = !isSameFolder(left, base)
    return { files: new Map(isRestored ? left : []), copies: [], renumbered: [], isRestored }
  }
  const sessions = await mergeSessions(folders, { caseId, lastNumber })
  const files = new Map<string, MergedFile>(sessions.files)
  const unmerged: Unmerged[] = [...sessions.unmerged]
  const moved = withMovedArtifacts(folders, sessions.moves)
  for (const path of pathsIn(moved)) {
    if (isSessionPath(path) && !sessions.unread.has(path)) continue
    const versions = versionsOf(moved, path)
    const owner = /^sessions\/([0-9a-f-]{36})\.approval/.exec(path)?.[1]
    const isTheirs = owner !== undefined && sessions.winners.get(owner) === 'theirs'
    const merged = await mergeFile(path, versions, { caseId, isTheirs })
    if (!merged) continue
    if (merged.unmerged) unmerged.push({ path, file: merged.unmerged })
    if (files.has(path)) unmerged.push({ path, file: merged.file })
    else files.set(path, merged.file)
  }
  unmerged.push(...removeCollisions(files, ours))
  const copies = await keepCopies(files, unmerged, [ours, theirs], time)
  return { files, copies, renumbered: sessions.renumbered, isRestored: false }
}

function pathsIn(folders: FolderVersions): string[] {
  return [...new Set(SIDES.flatMap((side) => [...folders[side].keys()]))].sort()
}

type FileVersions = Partial<Record<Side, MergeFile>>

function versionsOf(folders: FolderVersions, path: string): FileVersions {
  const found = SIDES.map((side) => [side, folders[side].get(path)] as const)
  return Object.fromEntries(found.filter(([, file]) => file !== undefined))
}

export function isSameFolder(a: Folder, b: Folder): boolean {
  return a.size === b.size && [...a].every(([path, file]) => sameFile(file, b.get(path)))
}

export interface FileMerge {
  file: MergedFile
  /** The version that could not be merged. */
  unmerged: MergedFile | null
}

/**
 * Merges one file; null if it is deleted. A file that one side deleted and the other changed stays. `isTheirs`: if
 * both changed it, theirs stays.
 */
export async function mergeFile(
  path: string,
  versions: FileVersions,
  { caseId, isTheirs = false }: { caseId: string; isTheirs?: boolean },
): Promise<FileMerge | null> {
  const { base, ours, theirs } = versions
  const left = ours ?? theirs
  if (!left) return null
  if (!ours || !theirs) return base && sameFile(left, base) ? null : { file: left, unmerged: null }
  if (sameFile(ours, theirs) || sameFile(theirs, base)) return { file: ours, unmerged: null }
  if (sameFile(ours, base)) return { file: theirs, unmerged: null }
  const mode = modeOf(versions)
  const [one, other] = isTheirs ? [theirs, ours] : [ours, theirs]
  if (one.id === other.id) return { file: { ...one, mode }, unmerged: null }
  const isDerived = DERIVED.includes(path)
  const whole: FileMerge = { file: one, unmerged: isDerived ? null : other }
  if (isDerived || isTheirs) return whole
  const texts = await Promise.all([textOf(base), textOf(ours), textOf(theirs)])
  const [before, own, theirText] = texts
  if (own == null || theirText == null || (base && before == null)) return whole
  const text = { base: before ?? '', ours: own, theirs: theirText }
  if (Object.values(text).some(({ length }) => length > MAX_PROOF_BYTES)) return whole
  const merged = await mergeTexts(path, text, caseId)
  if (merged === null) return whole
  const isOurs = merged.text === own && mode === ours.mode
  return {
    file: isOurs ? ours : textFile(merged.text, mode),
    unmerged: merged.isLossy ? theirs : null,
  }
}

/** The service derives these again. */
const DERIVED: readonly string[] = ['sessions/latest.md', 'index.md']
const CASE_RECORD = /^(?:case|proof\/[^/]+)\.md$/

/** Null if the result would not be what both sides are. */
async function mergeTexts(
  path: string,
  texts: Versions,
  caseId: string,
): Promise<MergedText | null> {
  const chosen = choose(texts)
  if (chosen !== null) return { text: chosen, isLossy: false }
  if (path === CASE_FILE) {
    const merged = await mergeCaseFile(texts, caseId)
    return merged && Buffer.byteLength(merged.text) <= MAX_CASE_BYTES ? merged : null
  }
  if (path === 'history.md') return { text: mergeHistory(texts), isLossy: false }
  if (CASE_RECORD.test(path)) return mergeProof(texts)
  if (isSessionPath(path) || isConflictCopy(path)) return null
  if (path === '.gitattributes' || path === '.gitignore')
    return { text: mergeHistory(texts), isLossy: false }
  if (path.includes('/') && !path.endsWith('.md')) return null
  // two runbooks, frontmatters or other formats in one file would mean something else
  const isNewNote =
    texts.base === '' &&
    path.endsWith('.md') &&
    path !== RUNBOOK_FILE &&
    ![texts.ours, texts.theirs].some((text) => /^\uFEFF?---/.test(text))
  return isNewNote ? mergeNewText(texts) : mergeText(texts)
}

/** Renames the output of sessions that have another number now, if it is in git. */
function withMovedArtifacts(
  folders: FolderVersions,
  moves: Record<Side, ReadonlyMap<number, number>>,
): FolderVersions {
  const moved = (side: Side) =>
    new Map(
      [...folders[side]].map(([path, file]) => {
        const [, number, name] = /^artifacts\/([1-9]\d{0,5})-(.*)$/.exec(path) ?? []
        const to = moves[side].get(Number(number))
        return [to === undefined ? path : `artifacts/${to}-${name}`, file]
      }),
    )
  return {
    base: moved('base'),
    ours: moved('ours'),
    theirs: moved('theirs'),
  }
}

/**
 * Removes files that cannot be on a disk beside another one: a file whose name is a folder's, or that differs from a
 * name of ours only in case.
 */
function removeCollisions(files: Map<string, MergedFile>, ours: Folder): Unmerged[] {
  const removed: Unmerged[] = []
  const folders = new Set([...files.keys()].flatMap(foldersOf))
  const names = new Map<string, string>()
  const oursFirst = [...files.keys()].sort((a, b) => Number(ours.has(b)) - Number(ours.has(a)))
  for (const path of oursFirst) {
    const folded = path.normalize('NFC').toLowerCase()
    const other = names.get(folded)
    names.set(folded, other ?? path)
    const isBoth = other !== undefined && ours.has(other) && ours.has(path)
    if (!folders.has(path) && (other === undefined || isBoth)) continue
    removed.push({ path: other ?? path, file: files.get(path)! })
    files.delete(path)
  }
  return removed
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** The folders in which `casefile doctor --check` names conflict copies. */
const IN_CHECKED_FOLDER = /^(?:sessions\/|proof\/)?[^/]+$/

/** Adds each version as a conflict copy, unless there is one with the same content. */
async function keepCopies(
  files: Map<string, MergedFile>,
  unmerged: readonly Unmerged[],
  sides: readonly Folder[],
  time: string,
): Promise<FolderMerge['copies']> {
  const copies: FolderMerge['copies'] = []
  for (const { path, file } of unmerged) {
    const place = IN_CHECKED_FOLDER.test(path) ? path : path.slice(path.lastIndexOf('/') + 1)
    const folder = place.slice(0, place.lastIndexOf('/') + 1)
    const name = place.slice(folder.length)
    const bytes = await bytesOf(file)
    const beside = files.get(path)
    if (beside && Buffer.compare(await bytesOf(beside), bytes) === 0) continue
    const stem = `${folder}${conflictName(name, time).replace(/conflict-.*$/, 'conflict-')}`
    const present = [...files].filter(([other]) => other.startsWith(stem) && isConflictCopy(other))
    const same = await findContent(present, bytes)
    const isThere = same !== null && sides.some((side) => side.has(same))
    if (same !== null && isThere) continue
    if (same !== null) {
      copies.push({ path, copy: same })
      continue
    }
    let count = 1
    while (files.has(folder + conflictName(name, time, count))) count++
    const copy = folder + conflictName(name, time, count)
    files.set(copy, asRegular(file, bytes))
    copies.push({ path, copy })
  }
  return copies
}

/** A link is kept as a file with its target. */
function asRegular(file: MergedFile, bytes: Uint8Array): MergedFile {
  return isRegular(file) ? file : ({ mode: '100644', bytes } satisfies NewFile)
}

async function findContent(
  files: readonly [string, MergedFile][],
  bytes: Uint8Array,
): Promise<string | null> {
  for (const [path, file] of files)
    if (Buffer.compare(await bytesOf(file), bytes) === 0) return path
  return null
}
