/**
 * Creates the copy of the working folder in which an agent plans, and reports what the agent changed in the copy and
 * in the working folder.
 */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isOpenFolder } from '../files/folder-names.ts'
import { plainText } from '../files/plain-text.ts'
import { removeStubborn } from '../files/remove-stubborn.ts'
import { gitText } from '../git/command.ts'
import {
  borrowObjects,
  type GitLimits,
  gitLimits,
  initRepository,
  isolatedGit,
} from '../git/scratch.ts'
import { AppError } from '../model/app-error.ts'
import { contentsBelow } from './plan-contents.ts'
import { differences } from './plan-differences.ts'
import { shownPath } from './plan-walk.ts'
import {
  type WatchedFolder,
  type WorkingFolderOptions,
  watchWorkingFolder,
} from './plan-working-folder.ts'
import { repositoryState } from './repository-state.ts'

const MOST_NAMES = 100
const MOST_CHARACTERS = 200

export type PlanFoldersOptions = WorkingFolderOptions

export interface PlanFolders {
  /** The copy: the working folder without ignored files, as a repository with one commit. */
  copy: string
  /** What is not copied or will not be compared, and why. */
  warnings: string[]
  /**
   * Returns what changed in the copy: paths from its top, `x/` for a folder, and entries such as `.git (refs): …` for
   * the repository. Sorted, long paths cut; at most 100, then one entry with the number of others.
   */
  copyChanges(): Promise<string[]>
  /** Same for the working folder. */
  folderChanges(): Promise<string[]>
  /** Removes the copy; files that cannot be removed stay. */
  close(): Promise<void>
}

/**
 * Copies the working folder for an agent to plan in, and later reports changes in both. Nothing is written to the
 * working folder or its repository. The state before is kept in memory, not on disk, where an agent could change it.
 * The state after is read again, every byte except those of ignored files, without running any program that the files
 * or the repository configure. Rejects without git, and then leaves nothing behind. Disk and git errors become
 * AppErrors.
 */
export async function openPlanFolders(
  workdir: string,
  options: PlanFoldersOptions,
): Promise<PlanFolders> {
  const close = async () => {
    await removeStubborn(options.folder)
  }
  try {
    const folders = await openFolders(workdir, options)
    const copyChanges = () =>
      folders.copyChanges().catch(failWith('What changed in the copy is unknown'))
    const folderChanges = () =>
      folders.folderChanges().catch(failWith('What changed in the working folder is unknown'))
    return { ...folders, copyChanges, folderChanges, close }
  } catch (error) {
    await close()
    return failWith('The working folder cannot be copied to plan in')(error)
  }
}

/** Rethrows programming errors and aborts; turns other errors into an AppError. */
function failWith(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error && error.name === 'Error')) throw error
    const why = plainText(error.message).slice(0, 1000).toWellFormed()
    const message = `${what}: ${why.trim().replace(/\.$/, '')}. Fix that, then plan again.`
    throw new AppError('storage_failed', message, { cause: error })
  }
}

async function openFolders(
  workdir: string,
  options: PlanFoldersOptions,
): Promise<Omit<PlanFolders, 'close'>> {
  const copy = join(options.folder, 'copy')
  await mkdir(copy, { mode: 0o700 })
  const working = await watchWorkingFolder(workdir, copy, options)
  await commitCopy(copy, working, gitLimits(options))
  const inCopy = copyLooks(copy, working.objectFormat, options.signal)
  const idOf = (value: string) => value.slice(value.indexOf(' ') + 1)
  const ids = new Map([...working.files].map(([path, value]) => [path, idOf(value)]))
  const before = await inCopy(ids)
  return {
    copy,
    warnings: working.warnings,
    async copyChanges() {
      // a link in its place could lead anywhere
      if (!(await isOpenFolder(copy))) return ['./']
      const after = await inCopy()
      const files = differences(before.files, after.files).map(shownPath)
      return listed([...files, ...differences(before.state, after.state)])
    },
    folderChanges: async () => listed(await working.changes()),
  }
}

/** Each comparison reads the whole copy, except files with given ids. */
function copyLooks(copy: string, objectFormat: string, signal: AbortSignal | undefined) {
  const skip = new Set(['.git'])
  const more = signal ? { signal } : {}
  return async (ids: ReadonlyMap<string, string> = new Map()) => ({
    files: await contentsBelow(copy, { skip, ids, objectFormat, ...more }),
    state: await repositoryState(copy, { exclude: null }),
  })
}

function listed(names: readonly string[]): string[] {
  const sorted = [...new Set(names.map(cut))].sort()
  const more = sorted.length - MOST_NAMES
  return more > 0 ? [...sorted.slice(0, MOST_NAMES), `… and ${more} more`] : sorted
}

function cut(name: string): string {
  return name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS).toWellFormed()}…` : name
}

const WHO = { NAME: 'Casefile', EMAIL: 'casefile@localhost' }
const IDENTITY = {
  GIT_AUTHOR_NAME: WHO.NAME,
  GIT_AUTHOR_EMAIL: WHO.EMAIL,
  GIT_COMMITTER_NAME: WHO.NAME,
  GIT_COMMITTER_EMAIL: WHO.EMAIL,
}

/** Disables programs that the user's global configuration could start or leave running. */
const QUIET_CONFIG = `	fsmonitor = false
	untrackedCache = false
	hooksPath = /dev/null
[gc]
	auto = 0
[maintenance]
	auto = false
`

/**
 * Makes the copied files the single commit of a repository that borrows the user's objects. Git attributes are ignored,
 * also later, so that `git status` is clean whatever is configured.
 */
async function commitCopy(
  copy: string,
  { objectFormat, objects }: Pick<WatchedFolder, 'objectFormat' | 'objects'>,
  limits: GitLimits,
): Promise<void> {
  const gitDir = join(copy, '.git')
  await initRepository(gitDir, objectFormat, QUIET_CONFIG)
  await borrowObjects(gitDir, objects === null ? [] : [objects])
  const isolated = isolatedGit(gitDir, copy, limits, {})
  const git = { ...isolated, env: { ...isolated.env, ...IDENTITY } }
  await gitText(['add', '--all', '--force', '--', '.'], git)
  const message = 'The working folder as it was when the planning began'
  await gitText(['commit', '--quiet', '--allow-empty', '--no-verify', '-m', message], git)
}
