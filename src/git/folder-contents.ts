/** What a working folder had at one moment, to compare it with later. The user's own index is never written. */

import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { type FileChange, parseTreeDiff, type TreeDiff } from './diff.ts'
import { excludedPaths } from './excluded.ts'
import { gitFailed } from './git-error.ts'
import { changeSeconds, newEntry, REPOSITORY_MODE, readIndex, writeIndex } from './index-file.ts'
import { type ListedFile, listIndex } from './index-list.ts'
import type { GitRepository } from './repository.ts'
import { type GitCommandOptions, type GitOutput, gitText, runGit } from './run-git.ts'
import { createScratchRepository, type GitLimits, gitLimits, openScratchFolder } from './scratch.ts'

/** Each git command may take 2 minutes by default. */
export interface FolderContentsOptions extends GitLimits {
  /** An existing scratch folder; everything is stored in a new folder inside it. */
  scratch: string
  /** Absolute paths that are left out; they need not exist. */
  exclude: string[]
  /** Objects to borrow instead of those of the repository. */
  objects?: string | undefined
}

export interface FolderContents {
  /**
   * Compares the folder now with what it had; do not call it concurrently. With `maxBytes` there is a patch for people,
   * limited to that, without the contents of binary files.
   */
  changes(maxBytes?: number): Promise<FolderChanges>
  close(): Promise<void>
}

export interface FolderChanges {
  diff: TreeDiff
  patch: { text: string; truncated: boolean }
  /** Git's messages about files that it could not read, then or now; they are not in the diff. */
  warnings: string[]
}

/** The list of changed files comes before the patch, and must be whole. */
const MAX_LIST_BYTES = 64 * 1024 * 1024

/**
 * Reads the contents of a folder in a git repository: tracked and untracked files, not ignored ones, byte for byte
 * (without line-end conversion and filters, so a git-lfs file is itself). From the user's repository only the list of
 * tracked files and the exclude rules are read.
 *
 * The contents are in a scratch repository that borrows the user's objects and has its own index, configuration and
 * attributes: nothing that the user or a step configures can start a program or change the user's bytes (git may set the
 * times of existing object files). Its index has the user's files, but neither their flags nor their times, which could
 * hide a change. A file that was seen once counts even if it is ignored later.
 *
 * A nested repository (a submodule) counts as the commit it is at.
 */
export async function readFolder(
  repository: GitRepository,
  options: FolderContentsOptions,
): Promise<FolderContents | { reason: string }> {
  const { top, prefix, objectFormat, exclude, excludesFile } = repository
  const excluded = await excludedPaths(repository, options.exclude)
  if (excluded === null) return { reason: 'the folder is within an excluded one' }
  const ours = (await excludedPaths(repository, [options.scratch])) ?? []
  const only = prefix === '' ? '.' : `:(top,literal)${prefix}`
  const left = [...excluded, ...ours]
  const paths = [only, ...left.map((path) => `:(top,exclude,literal)${path}`)]
  const [inside = '', ...outside] = [prefix, ...left].map((path) =>
    Buffer.from(path).toString('latin1'),
  )
  const isCounted = (path: string) =>
    isBelow(inside, path) && !outside.some((folder) => isBelow(folder, path))
  const compare = ['diff-index', '--cached', '-r', '-M', '--no-ext-diff', '--no-textconv']
  compare.push('--no-color', '-z', '--raw', '--no-abbrev', '--numstat')
  if (prefix !== '') compare.push(`--relative=${prefix}/`)

  const folder = await openScratchFolder(options.scratch)
  const ownIndex = join(folder.path, 'index')
  let git: GitCommandOptions

  const folderName = [top, prefix, objectFormat].join('\n')
  const stored = last.folder === folderName ? last.index : null

  async function read(): Promise<string[]> {
    const { files } = await listIndex(repository, options)
    const counted = files.filter(({ path }) => isCounted(path))
    await rewriteIndex(ownIndex, { stored, objectFormat }, counted)
    const { stderr } = await addAll(paths, git)
    return stderr.split('\n').filter((line) => !isExpected(line, excluded!))
  }

  async function compareWith(tree: string, maxBytes: number, options: readonly string[] = []) {
    const words = [...options, ...compare, ...(maxBytes > 0 ? ['-p'] : []), tree]
    const found = await runGit(words, { ...git, maxBytes: MAX_LIST_BYTES + maxBytes })
    if (found.exit > 0) throw gitFailed('diff-index', found.stderr)
    const { diff, patch } = parseTreeDiff(found.stdout)
    if (diff === null) throw new Error('git lists too many changed files')
    return { diff, patch }
  }

  try {
    git = await createScratchRepository(folder.path, top, {
      ...gitLimits(options),
      objectFormat,
      exclude,
      excludesFile,
      borrow: [options.objects ?? repository.objects],
    })
    const warnings = await read()
    let tree: string | null = null
    return {
      async changes(maxBytes = 0) {
        // a killed git command leaves its lock
        await rm(`${ownIndex}.lock`, { force: true })
        tree ??= (await gitText(['write-tree'], git)).trim()
        const all = [...new Set([...warnings, ...(await read())])]
        let { diff, patch } = await compareWith(tree, maxBytes)
        const isNameLost = ({ file, from }: FileChange) => /\uFFFD/.test(`${file}${from ?? ''}`)
        if (maxBytes > 0 && diff.files.some(isNameLost))
          patch = (await compareWith(tree, maxBytes, QUOTED)).patch
        return { diff, patch: cutPatch(patch, maxBytes), warnings: all }
      },
      async close() {
        last = { folder: folderName, index: await storedIndex(ownIndex) }
        await folder.remove()
      },
    }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

/** Names that are not UTF-8 are escaped in the patch, which is a text. */
const QUOTED = ['-c', 'core.quotePath=true']

function cutPatch(patch: Buffer, maxBytes: number): FolderChanges['patch'] {
  const truncated = patch.length > maxBytes
  const part = patch.subarray(0, maxBytes)
  const lines = truncated ? part.subarray(0, part.lastIndexOf(0x0a) + 1) : part
  return { text: lines.toString('utf8'), truncated }
}

const IGNORED = 'The following paths are ignored by one of your .gitignore files:'

/** Git names the folders that we exclude if it ignores them too, as the record usually is. */
function isExpected(line: string, excluded: readonly string[]): boolean {
  return line === '' || line === IGNORED || excluded.includes(line)
}

const ADD = ['add', '--all', '--ignore-errors', '--no-warn-embedded-repo', '--']
const ATTEMPTS = 3

async function addAll(paths: readonly string[], git: GitCommandOptions): Promise<GitOutput> {
  for (let attempt = 1; ; attempt += 1) {
    const added = await runGit([...ADD, ...paths], git)
    if (added.exit <= 1 && added.exit >= 0) return added
    // git fails only if a file disappears after its folder was listed
    if (attempt < ATTEMPTS && /^fatal: unable to stat /m.test(added.stderr)) continue
    throw gitFailed('add', added.stderr)
  }
}

interface StoredIndex {
  file: Buffer
  seconds: number
}

/**
 * What the index of the last folder was: the times of files in it are git's own, so those that did not change since need not
 * be read again.
 */
let last: { folder: string; index: StoredIndex | null } = { folder: '', index: null }

/**
 * Adds what is tracked to our index. Of the last folder's, only what is tracked with the same content stays: other objects
 * may be gone. Nested repositories leave it: git would start another git in each of them, with that one's configuration, and
 * finds them by itself. A file whose inode changed in the second of the old index is read again: with its size and times put
 * back, git would take it for unchanged.
 */
async function rewriteIndex(
  path: string,
  { stored, objectFormat }: { stored: StoredIndex | null; objectFormat: string },
  tracked: readonly ListedFile[],
): Promise<void> {
  const own = await storedIndex(path)
  const old = own ?? stored
  const read = (old && readIndex(old.file)) ?? []
  const present = read.map((each) =>
    changeSeconds(each) < old!.seconds ? each : newEntry(each.path, each.mode, each.id),
  )
  const known = new Map(present.map((each) => [each.path, each]))
  const entries = new Map(own ? known : [])
  for (const { path, mode, id } of tracked) {
    if (entries.has(path)) continue
    const had = known.get(path)
    const isSame = had?.mode === mode && had.id === id
    entries.set(path, isSame ? had : newEntry(path, mode, id))
  }
  const wanted = [...entries.values()].filter(({ mode }) => mode !== REPOSITORY_MODE)
  const isWritten = wanted.length === read.length && wanted.every((each, at) => each === read[at])
  if (own && isWritten) return
  await writeFile(path, writeIndex(wanted, objectFormat))
  // by this time git knows which files may have changed since without that showing in their times
  if (old) await utimes(path, old.seconds, old.seconds)
}

/** Null if there is none. */
async function storedIndex(path: string): Promise<StoredIndex | null> {
  try {
    const [file, { mtimeMs }] = await Promise.all([readFile(path), stat(path)])
    return { file, seconds: Math.floor(mtimeMs / 1000) }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    return null
  }
}

/** For paths in git's form: `isWithin` would be slow for so many. */
function isBelow(folder: string, path: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}
