/** Reads trees and blobs of git, and writes new ones, without a working tree. */

import { hash } from 'node:crypto'
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { entriesIn } from '../files/folder-names.ts'
import { readBlobs } from '../git/contents.ts'
import type { MergeFile } from '../markdown/merging/folder.ts'
import type { MemoryGit } from './memory-git.ts'
import { SyncStop } from './sync-stop.ts'

export interface TreeFile {
  mode: string
  id: string
}

/** The mode of a git repository in a tree (a submodule). Its id is that of a commit of another repository. */
export const GITLINK = '160000'

export interface TreeChange {
  path: string
  /** Null if the file was added. */
  before: TreeFile | null
  /** Null if it was removed. */
  after: TreeFile | null
}

/** What differs between two trees, as paths from the top. Only below `prefix` if it is given. */
export async function treeChanges(
  git: MemoryGit,
  [before, after]: readonly [string, string],
  prefix = '',
): Promise<TreeChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-ext-diff', before, after]
  const parts = (await git.text([...args, ...below(prefix)])).split('\0')
  const changes: TreeChange[] = []
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [beforeMode = '', afterMode = '', from = '', to = ''] = parts[at]!.slice(1).split(' ')
    const file = (mode: string, id: string) => (/^0+$/.test(id) ? null : { mode, id })
    changes.push({
      path: readable(parts[at + 1]!),
      before: file(beforeMode, from),
      after: file(afterMode, to),
    })
  }
  return changes
}

const MAX_FOLDERS_AT_ONCE = 200

/** The files of a tree in some folders, by their path from the top. */
export async function filesIn(
  git: MemoryGit,
  tree: string,
  folders: readonly string[],
): Promise<Map<string, TreeFile>> {
  const files = new Map<string, TreeFile>()
  for (let at = 0; at < folders.length; at += MAX_FOLDERS_AT_ONCE) {
    const some = folders.slice(at, at + MAX_FOLDERS_AT_ONCE)
    for (const entry of (await git.text(['ls-tree', '-r', '-z', tree, '--', ...some])).split(
      '\0',
    )) {
      const [, mode, id, path] = /^(\d+) \w+ ([0-9a-f]+)\t([\s\S]*)$/.exec(entry) ?? []
      if (path !== undefined) files.set(readable(path), { mode: mode!, id: id! })
    }
  }
  return files
}

/** Git's pathspec for a folder, with its name taken as it is. */
export function below(prefix: string): string[] {
  return prefix === '' ? [] : ['--', `:(top,literal)${prefix.slice(0, -1)}`]
}

function readable(path: string): string {
  if (!path.includes('\ufffd')) return path
  throw new SyncStop(
    'broken_file',
    `The name of ${path} is not UTF-8, so it cannot be merged. Rename it.`,
  )
}

/** The blobs of the repository, loaded many at a time. */
export interface Blobs {
  load(ids: Iterable<string>): Promise<void>
  read(id: string): Promise<Buffer>
  /** Null for an object that is not a blob. */
  find(id: string): Promise<Buffer | null>
  write(bytes: Uint8Array): Promise<string>
  file(file: TreeFile): MergeFile
}

export function createBlobs(git: MemoryGit): Blobs {
  /** Null for what is no blob. */
  const loaded = new Map<string, Buffer | null>()

  async function load(ids: Iterable<string>): Promise<void> {
    const missing = [...ids].filter((id) => !loaded.has(id))
    const found = await readBlobs(git.top, missing)
    for (const id of missing) loaded.set(id, found.get(id) ?? null)
  }

  async function find(id: string): Promise<Buffer | null> {
    if (!loaded.has(id)) await load([id])
    return loaded.get(id)!
  }

  async function read(id: string): Promise<Buffer> {
    const bytes = await find(id)
    if (!bytes) throw new Error(`git has no object ${id}`)
    return bytes
  }

  return {
    load,
    read,
    find,
    async write(bytes) {
      const id = (await git.text(['hash-object', '-w', '--stdin'], { input: bytes })).trim()
      loaded.set(id, Buffer.from(bytes))
      return id
    },
    file: ({ mode, id }) => ({
      mode,
      id,
      // as git shows it in a diff
      read: async () => (mode === GITLINK ? Buffer.from(`Subproject commit ${id}\n`) : read(id)),
    }),
  }
}

/** Returns the tree that a commit or tree becomes with these files; null removes one. */
export async function editedTree(
  git: MemoryGit,
  tree: string,
  edits: ReadonlyMap<string, TreeFile | null>,
): Promise<string> {
  return withIndex(git, async (env) => {
    await git.text(['read-tree', tree], { env })
    const nothing = '0'.repeat(tree.length)
    const removed = [...edits].filter(([, file]) => file === null)
    const written = [...edits].filter(([, file]) => file !== null)
    const lines = [
      ...removed.map(([path]) => `0 ${nothing}\t${path}\0`),
      ...written.map(([path, file]) => `${file!.mode} ${file!.id}\t${path}\0`),
    ]
    await git.text(['update-index', '-z', '--replace', '--index-info'], {
      env,
      input: lines.join(''),
    })
    return (await git.text(['write-tree'], { env })).trim()
  })
}

const INDEX_NAME = 'casefile-sync'

/** Runs `work` with an index that is not the user's, and removes it. */
export async function withIndex<T>(
  git: MemoryGit,
  work: (env: { GIT_INDEX_FILE: string }, path: string) => Promise<T>,
): Promise<T> {
  const path = join(
    git.gitDir,
    `${INDEX_NAME}-${process.pid}-${Math.random().toString(36).slice(2)}`,
  )
  try {
    return await work({ GIT_INDEX_FILE: path }, path)
  } finally {
    for (const file of [path, `${path}.lock`]) await rm(file, { force: true })
  }
}

/** Removes the indexes of a process that was killed. Only the owner of the memory root may call this. */
export async function removeIndexes(git: MemoryGit): Promise<void> {
  const names = await entriesIn(git.gitDir)
  for (const name of names.filter((each) => /^casefile-sync-\d+-/.test(each)))
    await rm(join(git.gitDir, name), { force: true })
}

/** Copies the user's index, if there is one, with what it knows of the files on the disk. */
export async function copyIndex(git: MemoryGit, to: string): Promise<void> {
  try {
    await copyFile(join(git.gitDir, 'index'), to)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** The empty tree, which every repository knows. */
export async function emptyTree(git: MemoryGit): Promise<string> {
  const format = (await git.text(['rev-parse', '--show-object-format'])).trim()
  return hash(format === 'sha256' ? 'sha256' : 'sha1', 'tree 0\0')
}
