/**
 * Finds which contents of files below a folder git could bring since a moment: by a commit, the index, the stash, a
 * file of git that names an object, or a replacement.
 */

import { hash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { type EntryKind, entriesIn, kindsNow } from '../files/folder-names.ts'
import { existingPaths, realPathOf } from '../files/real-path.ts'
import { readRegular } from '../files/safe-read.ts'
import { AS_STORED } from './contents.ts'
import { type ListedFile, listedBelow, listIndex } from './index-list.ts'
import { EACH_PARENT, gitLog } from './log.ts'
import { type FoundRepository, findRepositoryFolders } from './repository-folders.ts'
import { gitText, runGit } from './run-git.ts'

/** What git could bring at a moment. */
export interface GitMoment {
  /** Whether there is a repository that git would use. */
  isRepository: boolean
  /** The commits of all branches, stashes and reflogs, also ids there of what is gone. */
  commits: string[]
  /** Files in the index, as `digestOf` names them. */
  indexed: string[]
  /** Other objects that have a name, as `namedObjects` finds them. */
  others: string[]
}

/** A content that a file has in some commit or in the index. */
export interface BroughtFile {
  /** Relative to the folder. */
  path: string
  object: string
}

/** The history of the folder; `--ignore-missing` skips words that name nothing. */
const HISTORY = [
  ...['--all', '--reflog', '--ignore-missing', '--full-history', '--root', EACH_PARENT],
  ...['--relative', '--stdin', '--', '.'],
]

/** `used`: the top of a repository that git is known to use; null without one. */
export async function gitMoment(folder: string, used: string | null): Promise<GitMoment> {
  const dirs = await gitDirs(folder, (found) => found.top === used)
  if (dirs === null) return { isRepository: false, commits: [], indexed: [], others: [] }
  const [{ commits, others }, present] = await Promise.all([
    namedObjects(folder, dirs),
    indexBelow(folder),
  ])
  const indexed = present.map((file) => digestOf(fileOf(file)))
  return { isRepository: true, commits, indexed, others }
}

/** Git's folder and the one that all worktrees share; null without a repository that git uses. */
async function gitDirs(
  folder: string,
  isUsed: (found: FoundRepository) => boolean,
): Promise<string[] | null> {
  const found = await findRepositoryFolders(await realPathOf(folder))
  if (found && isUsed(found) && (await isOneDisk(folder, found.top))) {
    return [...new Set([found.gitDir, found.common])]
  }
  try {
    const args = ['rev-parse', '--git-dir', '--git-common-dir']
    const { exit, stdout } = await runGit(args, { cwd: folder })
    if (exit !== 0) return null
    const dirs = stdout.toString().trimEnd().split('\n')
    return [...new Set(dirs.map((dir) => resolve(folder, dir)))]
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

/** Git looks for a repository no further than to the top of a disk. */
async function isOneDisk(folder: string, top: string): Promise<boolean> {
  const [own, other] = await Promise.all([stat(folder), stat(top)])
  return own.dev === other.dev
}

/** Throws if git cannot say it, which a run may have brought about. */
export async function broughtSince(
  folder: string,
  { isRepository: wasOne, commits, indexed, others }: GitMoment,
): Promise<BroughtFile[]> {
  const dirs = await gitDirs(folder, () => wasOne)
  if (dirs === null && !wasOne) return []
  const before = new Set([...indexed, ...others])
  const known = new Set([...commits, ...others.map(idOf)])
  const [present, listed] = await Promise.all([
    namedObjects(folder, dirs ?? []),
    indexBelow(folder),
  ])
  const added = present.others.filter((name) => !before.has(name))
  const isReplaced = added.some((name) => REPLACEMENT.test(name))
  const isNamed = added.length > 0 || present.commits.some((id) => !known.has(id))
  const isStaged = listed.some((file) => !before.has(digestOf(fileOf(file))))
  const left = [...known].filter((id) => FULL_ID.test(id)).map((id) => `^${id}`)
  const [log, index, trees] = await Promise.all([
    isNamed
      ? gitLog(HISTORY, { cwd: folder, env: AS_STORED, input: linesOf([...added, ...left]) })
      : [],
    isStaged || isReplaced ? stagedFiles(folder, listed) : [],
    namedTrees(folder, added),
  ])
  const replaced = isReplaced ? await replacedFiles(folder, present.others, index) : []
  const files = [
    ...filesIn(log),
    ...index.filter((file) => !before.has(digestOf(file))),
    ...trees,
    ...replaced,
  ]
  return [...new Map(files.map((file) => [wordOf(file), file])).values()]
}

function filesIn(log: Awaited<ReturnType<typeof gitLog>>): BroughtFile[] {
  return log
    .flatMap(({ changes }) => changes)
    .flatMap(({ path, object }) => (object === null ? [] : [{ path, object }]))
}

function wordOf({ path, object }: BroughtFile): string {
  return `${object} ${path}`
}

function linesOf(names: readonly string[]): string {
  return names.map((name) => `${idOf(name)}\n`).join('')
}

/** Without the ref that may follow. */
function idOf(name: string): string {
  return name.split(' ', 1)[0]!
}

const FULL_ID = /^[0-9a-f]{40,64}$/

/** The files in the index that differ from HEAD, and all versions of those with a conflict, also a resolved one. */
async function stagedFiles(folder: string, listed: readonly ListedFile[]): Promise<BroughtFile[]> {
  // it reads no file, so no filter either
  const git = { cwd: folder, env: AS_STORED, configuration: [] }
  const raw = ['--raw', '-z', '--no-abbrev', '--no-renames', '--relative']
  const diff = await gitText(['diff', '--cached', ...raw, '--', '.'], git)
  const words = diff.split('\0')
  const changed = words.flatMap((word, at) => {
    const object = at % 2 === 0 ? word.split(' ')[3] : undefined // its name follows
    return object === undefined || /^0+$/.test(object) ? [] : [{ path: words[at + 1]!, object }]
  })
  return [...changed, ...listed.filter(({ stage }) => stage > 0).map(fileOf)]
}

/** What the index has below a folder. */
async function indexBelow(folder: string): Promise<ListedFile[]> {
  const real = await realPathOf(folder)
  const found = (await findRepositoryFolders(real)) ?? { top: real, gitDir: join(real, '.git') }
  return listedBelow(await listIndex(found, {}), real)
}

function fileOf({ path, id }: ListedFile): BroughtFile {
  return { path, object: id }
}

/** Short, as there may be many; no two files can be made to have the same one. */
function digestOf(file: BroughtFile): string {
  return hash('sha256', wordOf(file), 'base64url').slice(0, DIGEST)
}

const DIGEST = 24

/** Files of git that name no object, or only what refs name too. */
const WITHOUT_NAMES = /^(?:index|packed-refs|sharedindex\..*)$/
/** Where git keeps what it has begun; a rebase may name objects by a part of their ids. */
const STATE_FOLDERS: [name: string, id: RegExp][] = [
  ['', /\b[0-9a-f]{40,64}\b/g],
  ['info', /\b[0-9a-f]{40,64}\b/g],
  ['rebase-merge', /\b[0-9a-f]{4,64}\b/g],
  ['rebase-apply', /\b[0-9a-f]{4,64}\b/g],
  ['sequencer', /\b[0-9a-f]{4,64}\b/g],
]
const MAX_STATE_BYTES = 64 * 1024 * 1024

/**
 * What `--all --reflog` begins with, and what it leaves out: trees, blobs and tags that refs name, replacements, and all
 * that could be an object in pseudo refs such as FETCH_HEAD and the state of a rebase. Each is an id; `others` with the
 * ref if it has one.
 */
async function namedObjects(
  folder: string,
  dirs: readonly string[],
): Promise<Pick<GitMoment, 'commits' | 'others'>> {
  const format = '--format=%(objecttype) %(objectname) %(refname)'
  const refs = dirs.length === 0 ? '' : await gitText(['for-each-ref', format], { cwd: folder })
  const commits = Array.from(refs.matchAll(/^commit (\w+)/gm), ([, id]) => id!)
  const named = refs.matchAll(/^(?:(?!commit )\w+ (.+)|commit (\w+ refs\/replace\/.+))$/gm)
  const others = Array.from(named, ([, other, commit]) => (other ?? commit)!)
  for (const dir of [...dirs, ...(await worktreesOf(dirs))]) {
    for (const [name, id] of STATE_FOLDERS) others.push(...(await wordsIn(join(dir, name), id)))
    commits.push(...(await loggedIn(join(dir, 'logs'))))
  }
  if (await hasTable(dirs)) commits.push(...(await tipsOf(folder)))
  return { commits: [...new Set(commits)], others: [...new Set(others)] }
}

/** The git folders of linked worktrees. */
async function worktreesOf(dirs: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const dir of dirs) {
    const folder = join(dir, 'worktrees')
    found.push(...(await entriesIn(await realPathOf(folder))).map((name) => join(folder, name)))
  }
  return found.filter((dir) => !dirs.includes(dir))
}

/** The ids in the reflogs below a folder. As git does, this follows no links inside. */
async function loggedIn(folder: string): Promise<string[]> {
  const found: string[] = []
  const real = await realPathOf(folder)
  for (const [name, kind] of foldersAndFiles(real)) {
    const path = join(real, name)
    if (kind === 'folder') found.push(...(await loggedIn(path)))
    if (kind === 'file') found.push(...(await idsOf(path, /\b[0-9a-f]{40,64}\b/g)))
  }
  return found.filter((id) => !/^0+$/.test(id))
}

function foldersAndFiles(folder: string): Iterable<[name: string, kind: EntryKind]> {
  const kinds = kindsNow(folder)
  if (kinds === 'hidden') throw new Error(`${folder} cannot be read`)
  return kinds ?? []
}

/** Whether refs and reflogs are in another format than files. */
async function hasTable(dirs: readonly string[]): Promise<boolean> {
  return (await existingPaths(dirs.map((dir) => join(dir, 'reftable')))).length > 0
}

async function tipsOf(folder: string): Promise<string[]> {
  const words = ['rev-list', '--no-walk=unsorted', '--all', '--reflog', '--ignore-missing']
  const listed = await gitText(words, { cwd: folder, env: AS_STORED })
  return listed.split('\n').filter((id) => id !== '')
}

async function wordsIn(folder: string, id: RegExp): Promise<string[]> {
  const found: string[] = []
  const real = await realPathOf(folder)
  for (const name of await entriesIn(real)) {
    if (WITHOUT_NAMES.test(name)) continue
    found.push(...(await idsOf(await realPathOf(join(real, name)), id)))
  }
  return found
}

async function idsOf(path: string, id: RegExp): Promise<string[]> {
  const read = await readRegular(path, { maxBytes: MAX_STATE_BYTES })
  if (read.ok) return read.bytes.toString('latin1').match(id) ?? []
  // links are resolved, so one that is left leads to nothing
  if (/^(?:missing|not_a_file|symbolic_link)$/.test(read.reason)) return []
  throw new Error(`${path}: ${read.detail}`)
}

/** The files of the trees among these objects, and of the trees that tags among them name. */
async function namedTrees(folder: string, names: readonly string[]): Promise<BroughtFile[]> {
  if (names.length === 0) return []
  const git = { cwd: folder, env: AS_STORED }
  const input = names.map((name) => `${name.split(' ', 1)[0]}^{}\n`).join('')
  const format = '--batch-check=%(objecttype) %(objectname)'
  const objects = await gitText(['cat-file', format], { cwd: folder, env: AS_STORED, input })
  const trees = [...objects.matchAll(/^tree ([0-9a-f]+)$/gm)].map(([, tree]) => tree!)
  const top = (await gitText(['rev-parse', '--show-prefix'], git)).trimEnd()
  const lists = await Promise.all(
    [...new Set(trees)].map((tree) =>
      gitText(['ls-tree', '-r', '-z', '--full-tree', tree, '--', top || '.'], git),
    ),
  )
  return lists
    .flatMap((list) => entriesOf(list, /^\d+ blob ([0-9a-f]+)\t(.*)$/s))
    .map(({ path, object }) => ({ path: path.slice(top.length), object }))
}

const REPLACEMENT = /^(\w+) refs\/replace\/(\w+)$/
/** Git follows no more replacements of replacements than this. */
const MAX_REPLACEMENTS = 5

/** What git shows in place of what the history and the index have (`git replace`). */
async function replacedFiles(
  folder: string,
  names: readonly string[],
  index: readonly BroughtFile[],
): Promise<BroughtFile[]> {
  const [shown, stored] = await Promise.all([
    gitLog(HISTORY, { cwd: folder }),
    gitLog(HISTORY, { cwd: folder, env: AS_STORED }),
  ])
  const known = new Set(filesIn(stored).map(wordOf))
  const found = filesIn(shown).filter((file) => !known.has(wordOf(file)))
  const replacements = new Map(
    names.map((name) => REPLACEMENT.exec(name)).map((match) => [match?.[2], match?.[1]]),
  )
  for (const { path, object: original } of [...filesIn(stored), ...found, ...index]) {
    let object = replacements.get(original)
    for (let count = 0; object !== undefined && count < MAX_REPLACEMENTS; count++) {
      found.push({ path, object })
      object = replacements.get(object)
    }
  }
  return found
}

function entriesOf(list: string, entry: RegExp): BroughtFile[] {
  return list.split('\0').flatMap((each) => {
    const [, object, path] = entry.exec(each) ?? []
    return object === undefined || path === undefined ? [] : [{ path, object }]
  })
}
