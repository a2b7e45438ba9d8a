/**
 * Moves the branch and the working tree to a commit that continues HEAD. A file is replaced only if it is as HEAD has
 * it, as for every write of the service, so that no save of a person is lost; git itself would overwrite a save made
 * between its check and its write. Git's own lock keeps other git commands and the service's writes away meanwhile.
 */

import { constants } from 'node:fs'
import { lstat, open, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { confirmFolder, createDurable, makeFolder, writeDurable } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { stampNow } from '../files/read-now.ts'
import type { ReplacedFileTracker } from '../files/replace-seen.ts'
import { readRegular } from '../files/safe-read.ts'
import { gitFailed } from '../git/git-error.ts'
import { AppError } from '../model/app-error.ts'
import { keepConflictCopy } from '../workspace/late-saves/conflict-copy.ts'
import { filesChanging, gitBusy, moveBranch } from './memory-commit.ts'
import type { MemoryGit } from './memory-git.ts'
import { nestedRepository } from './sync-rules.ts'
import {
  type Blobs,
  copyIndex,
  emptyTree,
  GITLINK,
  removeIndexes,
  type TreeChange,
  type TreeFile,
  treeChanges,
  withIndex,
} from './trees.ts'

export interface TreeUpdate {
  from: string | null
  to: string
  changes: readonly TreeChange[]
}

/** Watches the file that a write replaces, for a save that is still under way. `path` is from the top. */
export type TrackerFor = (path: string, expect: Buffer) => ReplacedFileTracker | undefined

/** A file in git's folder that names the commit that the files are being moved to. */
const TARGET = 'casefile-sync-target'
const LOCK_TEXT = 'casefile sync\n'
const MAX_BYTES = 1024 * 1024 * 1024

/** Throws a `SyncStop` if a file is not as in HEAD (then nothing has changed), or if another git works here. */
export async function moveTo(
  git: MemoryGit,
  blobs: Blobs,
  update: TreeUpdate,
  trackerFor: TrackerFor,
): Promise<void> {
  const { changes } = update
  const unlock = await lockIndex(git)
  try {
    await blobs.load(
      changes.flatMap(({ before, after }) =>
        [before, after].flatMap((file) => (file && file.mode !== GITLINK ? [file.id] : [])),
      ),
    )
    // made before the files are written, as git does: the service takes its age for the time of git's work
    await withIndex(git, async (env, path) => {
      await fillIndex(git, env, path, changes)
      await moveFiles(git, blobs, update, trackerFor)
      await rename(path, join(git.gitDir, 'index'))
    })
    await rm(join(git.gitDir, TARGET), { force: true })
  } finally {
    await unlock()
  }
}

async function moveFiles(
  git: MemoryGit,
  blobs: Blobs,
  { from, to, changes }: TreeUpdate,
  trackerFor: TrackerFor,
): Promise<void> {
  const target = join(git.gitDir, TARGET)
  await writeDurable(target, Buffer.from(`${to}\n`))
  const written: TreeChange[] = []
  try {
    // new files first, so that a session that gets another number is always there
    for (const change of inOrder(changes)) {
      await replaceFile(git, blobs, change, trackerFor)
      written.push(change)
    }
    await moveBranch(git, to, from)
  } catch (error) {
    await undo(git, blobs, written)
    await rm(target, { force: true })
    if (isTaken(error)) throw filesChanging()
    throw error
  }
}

/** Whether a sync may have been killed while it moved the files. */
export function isInterrupted(gitDir: string): boolean {
  const lock = stampNow(join(gitDir, 'index.lock'))
  return lock?.size === LOCK_TEXT.length || stampNow(join(gitDir, TARGET)) !== null
}

/** The commit that the files were being moved to; null if they were not. */
export async function readTarget({ gitDir }: Pick<MemoryGit, 'gitDir'>): Promise<string | null> {
  const read = await readRegular(join(gitDir, TARGET), { maxBytes: 100 })
  return read.ok ? read.bytes.toString().trim() : null
}

/** Undoes what a sync that was killed has begun to write. Returns whether there was something. */
export async function recover(git: MemoryGit, blobs: Blobs): Promise<boolean> {
  await removeIndexes(git)
  const lock = join(git.gitDir, 'index.lock')
  const read = await readRegular(lock, { maxBytes: 100 })
  // only the owner of the memory root syncs, so this lock is of a process that is gone
  const isLeft = read.ok && read.bytes.toString() === LOCK_TEXT
  const file = join(git.gitDir, TARGET)
  const target = await readTarget(git)
  if (!isLeft && target === null) return false
  await putBack(git)
  const head = await git.find('HEAD')
  if (target !== null && target !== head) {
    const before = head ?? (await emptyTree(git))
    await undo(git, blobs, await treeChanges(git, [before, target]))
  }
  if (isLeft) await rm(lock, { force: true })
  if (target !== null && target === head) await resetIndex(git)
  await rm(file, { force: true })
  return true
}

function inOrder(changes: readonly TreeChange[]): TreeChange[] {
  const rank = ({ path, before, after }: TreeChange) => {
    if (after === null) return 3
    // a new file may need a filter that comes with it
    if (path.endsWith('.gitattributes')) return 0
    return before === null ? 1 : 2
  }
  return [...changes].sort((a, b) => rank(a) - rank(b))
}

async function lockIndex(git: MemoryGit): Promise<() => Promise<void>> {
  const path = join(git.gitDir, 'index.lock')
  try {
    const file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o644)
    await file.writeFile(LOCK_TEXT)
    await file.close()
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw gitBusy()
    throw error
  }
  return () => rm(path, { force: true })
}

/** Whether a file is not as it was expected. */
function isTaken(error: unknown): boolean {
  const codes = ['changed_meanwhile', 'already_exists', 'unreadable_file']
  return error instanceof AppError && codes.includes(error.code)
}

async function replaceFile(
  git: MemoryGit,
  blobs: Blobs,
  { path, before, after }: TreeChange,
  trackerFor: TrackerFor,
): Promise<void> {
  const place = join(git.top, path)
  if (isRepository(before) && isRepository(after)) return
  if (isRepository(before)) {
    const isGone = await removeRepository(git, path)
    if (after && !isGone) throw nestedRepository(path)
    return after ? replaceFile(git, blobs, { path, before: null, after }, trackerFor) : undefined
  }
  if (isRepository(after)) {
    if (before) await replaceFile(git, blobs, { path, before, after: null }, trackerFor)
    return makeFolder(place)
  }
  if (isLink(before) || isLink(after)) return replaceLink(place, blobs, before, after)
  const bytes = after && (await contentOf(git, blobs, path, after))
  if (before === null) {
    await makeFolder(dirname(place))
    return createDurable(place, bytes!, { mode: modeOf(after!), within: git.top })
  }
  const expect = await contentOf(git, blobs, path, before)
  if (bytes === null) return removeFile(git, place, expect)
  const tracker = trackerFor(path, expect)
  const mode = after!.mode === before.mode ? {} : { mode: modeOf(after!) }
  const options = { expect, within: git.top, ...mode, ...(tracker ? { tracker } : {}) }
  await writeDurable(place, bytes, options)
}

function isRepository(file: TreeFile | null): boolean {
  return file?.mode === GITLINK
}

/** As git does, it removes an empty folder only. A repository that stays is refused by the next sync. */
async function removeRepository(git: MemoryGit, path: string): Promise<boolean> {
  const place = join(git.top, path)
  try {
    if ((await lstatOrNull(place))?.isDirectory()) await rmdir(place)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return false
    throw error
  }
}

function isLink(file: TreeFile | null): boolean {
  return file !== null && !file.mode.startsWith('100')
}

/** As git does. */
function modeOf({ mode }: TreeFile): number {
  return (mode === '100755' ? 0o777 : 0o666) & ~process.umask()
}

/** What the file is on the disk: a filter such as git-lfs may store something else in git. */
async function contentOf(
  git: MemoryGit,
  blobs: Blobs,
  path: string,
  { id }: TreeFile,
): Promise<Buffer> {
  if (path.endsWith('.md')) return blobs.read(id)
  const { exit, stdout, stderr } = await git.run(['cat-file', '--filters', `--path=${path}`, id])
  if (exit !== 0) throw gitFailed('cat-file', stderr)
  return stdout
}

/** The file that is being removed; the first line of the other file is its path. */
const AWAY = '.casefile-sync-removed.tmp'
const AWAY_PATH = '.casefile-sync-path.tmp'

/** Moves the file away first, so that a save made meanwhile can be put back. */
async function removeFile(git: MemoryGit, place: string, expect: Buffer): Promise<void> {
  const [away, note] = awayIn(git)
  await writeDurable(note, Buffer.from(place))
  try {
    await rename(place, away)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    await rm(note, { force: true })
    return
  }
  const read = await readRegular(away, { maxBytes: MAX_BYTES })
  if (!read.ok || !read.bytes.equals(expect)) {
    await putBack(git)
    throw new AppError('changed_meanwhile', `${place} was changed.`)
  }
  await confirmFolder(dirname(place))
  await rm(away, { force: true })
  await rm(note, { force: true })
  await removeEmptyFolders(git, dirname(place))
}

function awayIn({ top, prefix }: MemoryGit): [away: string, note: string] {
  return [join(top, prefix, AWAY), join(top, prefix, AWAY_PATH)]
}

/** Puts the file back that was being removed. */
async function putBack(git: MemoryGit): Promise<void> {
  const [away, note] = awayIn(git)
  const [path, file] = await Promise.all([
    readRegular(note, { maxBytes: 64 * 1024 }),
    readRegular(away, { maxBytes: MAX_BYTES }),
  ])
  if (path.ok && file.ok) {
    const place = path.bytes.toString()
    if ((await lstatOrNull(place)) === null) await rename(away, place)
    else
      await keepConflictCopy(place, file.bytes, { time: new Date().toISOString(), within: git.top })
  }
  await rm(away, { force: true })
  await rm(note, { force: true })
}

async function removeEmptyFolders(git: MemoryGit, folder: string): Promise<void> {
  for (let at = folder; at.startsWith(join(git.top, git.prefix, 'cases/')); at = dirname(at)) {
    try {
      await rmdir(at)
    } catch (error) {
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) return
      throw error
    }
  }
}

/** Links in a record are derived (`latest.md`): one that differs stays as it is. */
async function replaceLink(
  place: string,
  blobs: Blobs,
  before: TreeFile | null,
  after: TreeFile | null,
): Promise<void> {
  const present = await linkAt(place)
  const expected = before === null ? null : (await blobs.read(before.id)).toString()
  if (present !== expected) return
  if (present !== null) await rm(place, { force: true })
  if (after === null) return
  if (!isLink(after))
    return createDurable(place, await blobs.read(after.id), { mode: modeOf(after) })
  await makeFolder(dirname(place))
  await symlink((await blobs.read(after.id)).toString(), place)
}

async function linkAt(place: string): Promise<string | null> {
  try {
    return (await lstat(place)).isSymbolicLink() ? await readlink(place) : ''
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}

/** Puts files back that are as a change has written them; a file that somebody has saved since stays. */
async function undo(git: MemoryGit, blobs: Blobs, changes: readonly TreeChange[]): Promise<void> {
  for (const { path, before, after } of inOrder(changes).reverse()) {
    try {
      const place = join(git.top, path)
      const isDone =
        after === null
          ? (await lstatOrNull(place)) === null
          : await hasContent(git, blobs, path, after)
      if (isDone)
        await replaceFile(git, blobs, { path, before: after, after: before }, () => undefined)
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
}

async function hasContent(
  git: MemoryGit,
  blobs: Blobs,
  path: string,
  file: TreeFile,
): Promise<boolean> {
  if (isRepository(file)) return (await lstatOrNull(join(git.top, path)))?.isDirectory() ?? false
  if (isLink(file))
    return (await linkAt(join(git.top, path))) === (await blobs.read(file.id)).toString()
  const read = await readRegular(join(git.top, path), { maxBytes: MAX_BYTES, within: git.top })
  return read.ok && read.bytes.equals(await contentOf(git, blobs, path, file))
}

async function lstatOrNull(place: string) {
  try {
    return await lstat(place)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}

/** Puts the new entries into a copy of git's index. What is staged besides stays staged. */
async function fillIndex(
  git: MemoryGit,
  env: { GIT_INDEX_FILE: string },
  path: string,
  changes: readonly TreeChange[],
): Promise<void> {
  await copyIndex(git, path)
  const lines = changes.map(({ path: name, before, after }) =>
    after ? `${after.mode} ${after.id}\t${name}\0` : `0 ${before!.id}\t${name}\0`,
  )
  const input = lines.join('')
  await git.text(['update-index', '-z', '--replace', '--index-info'], { env, input })
}

/** After a kill between the move of the branch and that of the index. */
async function resetIndex(git: MemoryGit): Promise<void> {
  const spec = git.prefix === '' ? [] : ['--', `:(top,literal)${git.prefix.slice(0, -1)}`]
  await git.run(['reset', '--mixed', '--quiet', ...spec])
}
