/** Resolves the files of the record that a merge, rebase or pull of a person has left in conflict. */

import { dirname, join } from 'node:path'
import { createDurable, makeFolder, writeDurable } from '../files/durable-write.ts'
import { removeFile } from '../files/remove-file.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import type { UnfinishedWork } from '../git/unfinished-work.ts'
import { conflictLine } from '../markdown/conflict-markers.ts'
import type { Side } from '../markdown/merging/folder.ts'
import { mustBeStoredPlainly } from './attributes.ts'
import { caseIdsIn } from './commits.ts'
import { filesChanging } from './memory-commit.ts'
import type { MemoryGit } from './memory-git.ts'
import {
  emptyReport,
  type MergeReport,
  type MergeTreesOptions,
  mergeUnits,
  type TreeFiles,
  unitOf,
} from './memory-merge.ts'
import { type Blobs, below, type TreeFile } from './trees.ts'

export interface Resolution extends MergeReport {
  /** Paths from the top that are resolved and staged. */
  resolved: string[]
  /** Files of the record that a person has begun to resolve. They stay as they are. */
  edited: string[]
}

export interface ResolutionOptions extends Pick<MergeTreesOptions, 'time' | 'lastNumber'> {
  work: UnfinishedWork
  dryRun: boolean
  /** Runs `work` while nothing else of the service works on these cases. */
  withCases(ids: readonly string[], work: () => Promise<void>): Promise<void>
}

type Stages = Readonly<Record<string, Side>>

/** Whose version a stage of git's index is. A rebase puts the person's commits on top of the others'. */
function stagesOf(work: UnfinishedWork): Stages {
  return work === 'rebase'
    ? { 1: 'base', 2: 'theirs', 3: 'ours' }
    : { 1: 'base', 2: 'ours', 3: 'theirs' }
}

const MAX_BYTES = 64 * 1024 * 1024

export async function resolveConflicts(
  git: MemoryGit,
  blobs: Blobs,
  options: ResolutionOptions,
): Promise<Resolution> {
  const stages = stagesOf(options.work)
  const unmerged = await stagedFiles(git, stages, ['--unmerged', ...below(git.prefix)])
  await mustBeStoredPlainly(git, unmerged.paths)
  const units = new Set([...unmerged.paths].map((path) => unitOf(git, path)))
  const edited: string[] = []
  for (const path of unmerged.paths) {
    if (await isUntouched(git, blobs, path, unmerged.files)) continue
    edited.push(path)
    units.delete(unitOf(git, path))
  }
  const none: Resolution = { resolved: [], edited, ...emptyReport() }
  if (units.size === 0) return none
  const folders = [...units].map((unit) => `:(top,literal)${unit.replace(/\/$/, '')}`)
  const { files } = await stagedFiles(git, stages, ['--stage', '--', ...folders])
  const { edits, ...report } = await mergeUnits(git, blobs, files, units, options)
  const resolved = [...unmerged.paths].filter((path) => units.has(unitOf(git, path)))
  if (!options.dryRun) {
    const paths = [...new Set([...resolved, ...edits.keys()])]
    const ids = caseIdsIn(
      git,
      paths.map((path) => ({ path })),
    )
    await options.withCases(ids, async () => {
      for (const path of paths) {
        const wanted = edits.has(path) ? edits.get(path)! : (files.ours.get(path) ?? null)
        const ours = unmerged.paths.has(path) ? 'conflict' : files.ours.get(path)
        await writeResolved(git, blobs, path, wanted, ours)
      }
    })
    await git.text(['add', '--all', '--', ...folders])
  }
  return { resolved, edited, ...report }
}

/** The files of git's index by stage; a file without a conflict is the same on all sides. */
async function stagedFiles(
  git: MemoryGit,
  stages: Stages,
  args: string[],
): Promise<{ paths: Set<string>; files: TreeFiles }> {
  const files: TreeFiles = { base: new Map(), ours: new Map(), theirs: new Map() }
  const paths = new Set<string>()
  const listed = await git.text(['ls-files', '-z', '--full-name', ...args])
  for (const entry of listed.split('\0')) {
    const [, mode, id, stage, path] = /^(\d+) ([0-9a-f]+) (\d)\t([\s\S]+)$/.exec(entry) ?? []
    if (path === undefined) continue
    const side = stages[stage!]
    if (side) paths.add(path)
    for (const each of side ? [side] : (['base', 'ours', 'theirs'] as const))
      files[each].set(path, { mode: mode!, id: id! })
  }
  return { paths, files }
}

/** Whether the file is as git has left it: a version of one side, or lines of both between conflict markers. */
async function isUntouched(
  git: MemoryGit,
  blobs: Blobs,
  path: string,
  files: TreeFiles,
): Promise<boolean> {
  const read = await readRegular(join(git.top, path), { maxBytes: MAX_BYTES })
  if (!read.ok) return read.reason === 'missing'
  const sides = [files.ours.get(path), files.theirs.get(path), files.base.get(path)]
  const versions = await Promise.all(sides.flatMap((file) => (file ? [blobs.read(file.id)] : [])))
  if (versions.some((bytes) => bytes.equals(read.bytes))) return true
  const decoded = decodeUtf8(read.bytes)
  if (!decoded.ok || conflictLine(decoded.text) === null) return false
  const known = new Set(versions.flatMap((bytes) => linesOf(bytes.toString())))
  return linesOf(decoded.text).every((line) => known.has(line) || MARKER.test(line))
}

const MARKER = /^(?:<{7}|>{7}|\|{7})(?: .*)?$|^={7}$/

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trimEnd())
}

/** `present` is what git has of a file that is not in conflict: it is replaced only if it is still the same. */
async function writeResolved(
  git: MemoryGit,
  blobs: Blobs,
  path: string,
  wanted: TreeFile | null,
  present: TreeFile | 'conflict' | undefined,
): Promise<void> {
  const place = join(git.top, path)
  const read = await readRegular(place, { maxBytes: MAX_BYTES, within: git.top })
  if (present !== 'conflict' && read.ok) {
    const isSame = present !== undefined && read.bytes.equals(await blobs.read(present.id))
    if (!isSame) throw filesChanging()
  }
  if (wanted === null) {
    if (read.ok) await removeFile(place)
    return
  }
  if (!wanted.mode.startsWith('100')) return
  const bytes = await blobs.read(wanted.id)
  if (read.ok) {
    const options = { expect: read.bytes, within: git.top }
    if (!read.bytes.equals(bytes)) await writeDurable(place, bytes, options)
    return
  }
  await makeFolder(dirname(place))
  await createDurable(place, bytes, { within: git.top })
}
