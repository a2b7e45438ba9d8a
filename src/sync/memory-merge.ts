import { conflictName } from '../markdown/conflict-name.ts'
import {
  bytesOf,
  type Folder,
  type MergedFile,
  SIDES,
  type Side,
} from '../markdown/merging/folder.ts'
import { mergeCaseFolder, mergeFile } from '../markdown/merging/merge-case-folder.ts'
import type { MemoryGit } from './memory-git.ts'
import {
  type Blobs,
  editedTree,
  filesIn,
  GITLINK,
  type TreeChange,
  type TreeFile,
  treeChanges,
} from './trees.ts'

/** What a merge did besides merging, with paths from the top of the working tree. */
export interface MergeReport {
  /** Versions that could not be merged, beside the files. */
  copies: { case_id: string | null; file: string; copy: string }[]
  renumbered: { case_id: string; session_id: string; from: number; to: number }[]
  /** Cases that one side deleted, and that stay because the other changed them. */
  restored: { case_id: string }[]
}

export function emptyReport(): MergeReport {
  return { copies: [], renumbered: [], restored: [] }
}

export interface TreeMerge extends MergeReport {
  tree: string
}

export interface MergeTreesOptions {
  /** What theirs changed since the base. */
  theirs: readonly TreeChange[]
  /** For the names of conflict copies: ISO 8601 UTC with milliseconds. */
  time: string
  /** The highest session number that was given to a case on this machine. */
  lastNumber(caseId: string): Promise<number>
}

type Trees = Record<Side, string>

/** Merges the records of two trees. Files outside the record must have changed on one side only. */
export async function mergeTrees(
  git: MemoryGit,
  blobs: Blobs,
  trees: Trees,
  options: MergeTreesOptions,
): Promise<TreeMerge> {
  const ours = await treeChanges(git, [trees.base, trees.ours])
  const { theirs } = options
  const changedByUs = new Set(ours.map(({ path }) => unitOf(git, path)))
  const edits = new Map<string, TreeFile | null>()
  const both = new Set<string>()
  for (const { path, after } of theirs) {
    const unit = unitOf(git, path)
    if (changedByUs.has(unit)) both.add(unit)
    else edits.set(path, after)
  }
  const folders = [...both].filter((unit) => unit.endsWith('/'))
  const files = [...both].filter((unit) => !unit.endsWith('/'))
  const versions = await versionsOf(git, blobs, trees, {
    folders,
    files,
    changes: [...ours, ...theirs],
  })
  const { edits: merged, ...report } = await mergeUnits(git, blobs, versions, both, options)
  for (const [path, file] of merged) edits.set(path, file)
  return { ...report, tree: await editedTree(git, trees.ours, edits) }
}

export interface UnitsMerge extends MergeReport {
  /** What differs from ours. */
  edits: Map<string, TreeFile | null>
}

/** Merges these cases and other files of the record. */
export async function mergeUnits(
  git: MemoryGit,
  blobs: Blobs,
  versions: TreeFiles,
  units: Iterable<string>,
  options: Pick<MergeTreesOptions, 'time' | 'lastNumber'>,
): Promise<UnitsMerge> {
  const edits = new Map<string, TreeFile | null>()
  const report = emptyReport()
  for (const unit of units) {
    if (unit.endsWith('/')) {
      const { edits: found, ...merged } = await mergeFolder(unit, versions, blobs, options)
      for (const [path, file] of found) edits.set(path, file)
      report.copies.push(...merged.copies)
      report.renumbered.push(...merged.renumbered)
      report.restored.push(...merged.restored)
      continue
    }
    const name = unit.slice(git.prefix.length)
    const merged = await mergeFile(name, versionsAt(versions, blobs, unit), { caseId: '' })
    edits.set(unit, merged && (await stored(blobs, merged.file)))
    if (!merged?.unmerged) continue
    const copy = conflictName(unit, options.time)
    edits.set(copy, await stored(blobs, merged.unmerged))
    report.copies.push({ case_id: null, file: unit, copy })
  }
  return { edits, ...report }
}

/** Cases are merged as folders, which end with a slash; all else file by file. */
export function unitOf({ prefix }: MemoryGit, path: string): string {
  const start = `${prefix}cases/`
  const id = path.startsWith(start) ? /^[0-9a-f-]{36}\//.exec(path.slice(start.length))?.[0] : null
  return id ? start + id : path
}

export type TreeFiles = Record<Side, Map<string, TreeFile>>

/** Lists the files of what both changed, and loads those that differ. */
async function versionsOf(
  git: MemoryGit,
  blobs: Blobs,
  trees: Trees,
  wanted: { folders: string[]; files: string[]; changes: readonly TreeChange[] },
): Promise<TreeFiles> {
  const paths = [...wanted.folders, ...wanted.files]
  const found = {} as TreeFiles
  for (const side of SIDES) found[side] = await filesIn(git, trees[side], paths)
  const changed = new Set(wanted.changes.map(({ path }) => path))
  const ids = SIDES.flatMap((side) =>
    [...found[side]]
      .filter(([path, { mode }]) => changed.has(path) && mode.startsWith('1') && mode !== GITLINK)
      .map(([, file]) => file.id),
  )
  await blobs.load(ids)
  return found
}

function versionsAt(found: TreeFiles, blobs: Blobs, path: string) {
  const entries = SIDES.flatMap((side) => {
    const file = found[side].get(path)
    return file ? [[side, blobs.file(file)] as const] : []
  })
  return Object.fromEntries(entries)
}

async function mergeFolder(
  folder: string,
  found: TreeFiles,
  blobs: Blobs,
  { time, lastNumber }: Pick<MergeTreesOptions, 'time' | 'lastNumber'>,
) {
  const inside = (side: Side): Folder =>
    new Map(
      [...found[side]]
        .filter(([path]) => path.startsWith(folder))
        .map(([path, file]) => [path.slice(folder.length), blobs.file(file)]),
    )
  const folders = { base: inside('base'), ours: inside('ours'), theirs: inside('theirs') }
  const caseId = folder.slice(-37, -1)
  const merged = await mergeCaseFolder(folders, {
    caseId,
    time,
    lastNumber: await lastNumber(caseId),
  })
  const edits = new Map<string, TreeFile | null>()
  for (const path of folders.ours.keys())
    if (!merged.files.has(path)) edits.set(folder + path, null)
  for (const [path, file] of merged.files) {
    const written = await stored(blobs, file)
    const present = folders.ours.get(path)
    if (present?.id !== written.id || present.mode !== written.mode)
      edits.set(folder + path, written)
  }
  return {
    edits,
    copies: merged.copies.map(({ path, copy }) => ({
      case_id: caseId,
      file: folder + path,
      copy: folder + copy,
    })),
    renumbered: merged.renumbered.map(({ id, from, to }) => ({
      case_id: caseId,
      session_id: id,
      from,
      to,
    })),
    restored: merged.isRestored ? [{ case_id: caseId }] : [],
  }
}

async function stored(blobs: Blobs, file: MergedFile): Promise<TreeFile> {
  const { mode } = file
  return { mode, id: 'id' in file ? file.id : await blobs.write(await bytesOf(file)) }
}
