/** Reads the state of the user's repository besides its files: refs, HEAD, configuration, hooks, index. */

import { createHash } from 'node:crypto'
import { readdir, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hasCode, isBarred } from '../files/errno.ts'
import { isOpenFolder } from '../files/folder-names.ts'
import { isWithin } from '../files/real-path.ts'
import { readRegular } from '../files/safe-read.ts'
import { runGit } from '../git/command.ts'
import { asPath, type DotGit, findDotGit } from '../git/dot-git.ts'
import { excludedPaths } from '../git/excluded.ts'
import { type GitLimits, isolatedGit, missingGit } from '../git/scratch.ts'
import { contentAt, contentsBelow, EMPTY_BLOB, UNREADABLE } from './plan-contents.ts'
import { shownPath } from './plan-walk.ts'

const MAX_BYTES = 64 * 1024 * 1024

export interface RepositoryStateOptions extends GitLimits {
  /** Absolute paths whose index entries are ignored; null ignores the whole index and the reflogs. */
  exclude: string[] | null
  /** The entries of the index without those of `exclude`, if they were just listed. */
  entries?: readonly string[]
}

/** A repository by its folders. */
export interface FoundRepository extends DotGit {
  /** The git folder with objects and refs; another one than `gitDir` in a linked worktree. */
  common: string
}

/** Finds the repository of a folder without asking git, so also one that git would not use. */
export async function findRepositoryFolders(folder: string): Promise<FoundRepository | null> {
  const found = await findDotGit(folder, ignoreUnreadable)
  return found && { ...found, common: await commonOf(found.gitDir) }
}

/**
 * Returns the state of a folder's repository by names for people, such as `.git (refs): refs/heads/main`. It is read
 * from git's own files, so neither git's trust in the repository nor its configuration matter; only the index needs
 * git. Packing refs and refreshing the index change nothing here.
 */
export async function repositoryState(
  folder: string,
  options: RepositoryStateOptions,
): Promise<Map<string, string>> {
  const state = new Map<string, string>()
  const found = await findRepositoryFolders(folder)
  if (found === null) return state
  const { gitDir, common } = found
  const dirs = [...new Set([common, gitDir])]

  state.set('.git', `${gitDir} ${common}`)
  await addFile(state, '.git (HEAD)', join(gitDir, 'HEAD'))
  for (const dir of dirs) {
    await addRefs(state, dir)
    await addFile(state, '.git (config)', join(dir, 'config'))
    await addFile(state, '.git (config)', join(dir, 'config.worktree'))
    await addFolder(state, 'hooks', dir)
    await addFolder(state, 'info', dir)
    await addFile(state, '.git (stash)', join(dir, 'logs', 'refs', 'stash'))
    if (options.exclude) await addFolder(state, 'logs', dir)
  }
  await addFile(state, '.git (alternates)', join(common, 'objects', 'info', 'alternates'))
  await addWorktrees(state, common)
  if (options.exclude) {
    const index = options.entries
      ? hashOf(options.entries)
      : await indexHash(found, options.exclude, options)
    state.set('.git (index)', index)
  }
  // for dumb transports only; git rewrites it at every repack
  state.delete('.git (info): refs')
  state.delete('.git (logs): refs/stash')
  return state
}

async function commonOf(gitDir: string): Promise<string> {
  return resolve(gitDir, asPath(await textOf(join(gitDir, 'commondir'))) ?? '.')
}

function ignoreUnreadable(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR') || isBarred(error)) return null
  throw error
}

async function textOf(path: string): Promise<string | null> {
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (read.ok) return read.bytes.toString()
  return read.reason === 'missing' ? null : read.reason
}

type State = Map<string, string>

/** Several files may share a name. */
function add(state: State, name: string, value: string | null): void {
  if (value !== null) state.set(name, [state.get(name), value].filter(Boolean).join(' '))
}

/** An empty one says the same as none: a run makes one that stays (git-protected-paths.ts). */
async function addFile(state: State, name: string, path: string): Promise<void> {
  const content = await contentAt(path, '', {})
  if (!content?.endsWith(EMPTY_BLOB)) add(state, name, content)
}

async function addFolder(state: State, part: string, dir: string): Promise<void> {
  const path = join(dir, part)
  const itself = await contentAt(path, '', {})
  const contents = (await isOpenFolder(path)) ? await contentsBelow(path) : null
  if (contents?.size !== 0) add(state, `.git (${part})`, itself)
  for (const [name, value] of contents ?? [])
    add(state, `.git (${part}): ${shownPath(name)}`, value)
}

/** Adds refs. Packed and loose refs have the same value; a loose one takes precedence. */
async function addRefs(state: State, dir: string): Promise<void> {
  const refs = new Map<string, string>()
  const packed = (await textOf(join(dir, 'packed-refs'))) ?? ''
  for (const line of packed.split('\n')) {
    const [, id, name] = /^([0-9a-f]+) (.+)$/.exec(line) ?? []
    if (id && name) refs.set(name, id)
  }
  if (await isOpenFolder(join(dir, 'refs'))) await looseRefs(dir, 'refs', refs)
  else refs.set('refs', 'none')
  // the newer reftable format
  const tables = await textOf(join(dir, 'reftable', 'tables.list'))
  if (tables !== null) refs.set('reftable', tables)
  for (const [name, value] of refs) {
    add(state, name === 'refs/stash' ? '.git (stash)' : `.git (refs): ${name}`, value)
  }
}

async function looseRefs(dir: string, folder: string, refs: Map<string, string>): Promise<void> {
  const folderPath = join(dir, folder)
  const listed = readdir(folderPath, { withFileTypes: true })
  const entries = await listed.catch((error) => {
    if (isBarred(error)) refs.set(`${folder}/`, UNREADABLE)
    return ignoreUnreadable(error)
  })
  for (const entry of entries ?? []) {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) await looseRefs(dir, name, refs)
    else if (!name.endsWith('.lock')) refs.set(name, (await textOf(join(dir, name)))?.trim() ?? '')
  }
}

async function addWorktrees(state: State, common: string): Promise<void> {
  const worktrees = join(common, 'worktrees')
  if (!(await isOpenFolder(worktrees))) return
  for (const name of (await readdir(worktrees).catch(ignoreUnreadable)) ?? []) {
    await addFile(state, `.git (worktrees): ${name}`, join(worktrees, name, 'HEAD'))
  }
}

/** Hashes staged entries with their flags, without the times that `git status` updates. */
async function indexHash(
  { top, gitDir }: DotGit,
  exclude: string[],
  limits: GitLimits,
): Promise<string> {
  const excluded = (await excludedPaths({ top, prefix: '' }, exclude)) ?? []
  const git = isolatedGit(gitDir, top, limits, {})
  const { exit, stdout, stderr } = await runGit(['ls-files', '--stage', '-v', '-z'], git).catch(
    missingGit,
  )
  if (exit !== 0) return hashOf([stderr])
  const isCounted = (entry: string) => {
    const path = Buffer.from(entry.slice(entry.indexOf('\t') + 1), 'latin1').toString()
    return entry !== '' && !excluded.some((folder) => isWithin(folder, path))
  }
  return hashOf(stdout.toString('latin1').split('\0').filter(isCounted))
}

function hashOf(entries: readonly string[]): string {
  const hash = createHash('sha256')
  for (const entry of entries) hash.update(`${entry}\0`)
  return hash.digest('hex')
}

/** Returns the real paths of a repository's working tree and git folders, also of a linked worktree. */
export async function repositoryFolders(folder: string): Promise<string[]> {
  const found = await findRepositoryFolders(await realpath(folder))
  if (found === null) return []
  const paths = [found.top, found.gitDir, found.common].map((path) =>
    realpath(path).catch(ignoreUnreadable),
  )
  return (await Promise.all(paths)).filter((path) => path !== null)
}
