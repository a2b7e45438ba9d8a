/**
 * Finds which contents of files below a folder git could bring since a moment: by a commit, the index, the stash, a
 * file of git that names an object, or a replacement.
 */

import { hash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { entriesIn } from '../files/folder-names.ts'
import { realPathOf } from '../files/real-path.ts'
import { readRegular } from '../files/safe-read.ts'
import { gitText, runGit } from './command.ts'
import { AS_STORED } from './contents.ts'
import { type ListedFile, listedBelow, listIndex } from './index-list.ts'
import { EACH_PARENT, gitLog } from './log.ts'
import { type FoundRepository, findRepositoryFolders } from './repository-folders.ts'

/** What git could bring at a moment. */
export interface GitMoment {
  /** Whether there is a repository that git would use. */
  isRepository: boolean
  /** The commits of all branches, tags, stashes, reflogs and worktrees. */
  commits: string[]
  /** Files in the index, as `digestOf` names them. */
  indexed: string[]
  /** Other objects that have a name, as `otherNames` finds them. */
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
  const words = ['rev-list', '--no-walk=unsorted', '--all', '--reflog', '--ignore-missing']
  const others = await otherNames(folder, dirs)
  const [commits, present] = await Promise.all([
    gitText([...words, '--stdin'], { cwd: folder, env: AS_STORED, input: linesOf(others) }),
    indexBelow(folder),
  ])
  return {
    isRepository: true,
    commits: commits.split('\n').filter((id) => id !== ''),
    indexed: present.map((file) => digestOf(fileOf(file))),
    others,
  }
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
  const names = await otherNames(folder, dirs ?? [])
  const added = names.filter((name) => !before.has(name))
  const input = linesOf(added) + linesOf(commits.map((id) => `^${id}`))
  const [log, index, trees] = await Promise.all([
    gitLog(HISTORY, { cwd: folder, env: AS_STORED, input }),
    stagedFiles(folder),
    namedTrees(folder, added),
  ])
  const replaced = added.some((name) => REPLACEMENT.test(name))
    ? await replacedFiles(folder, names, index)
    : []
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

function linesOf(words: readonly string[]): string {
  return words.map((word) => `${word.split(' ', 1)[0]}\n`).join('')
}

/** The files in the index that differ from HEAD, and all versions of those with a conflict, also a resolved one. */
async function stagedFiles(folder: string): Promise<BroughtFile[]> {
  // it reads no file, so no filter either
  const git = { cwd: folder, env: AS_STORED, configuration: [] }
  const raw = ['--raw', '-z', '--no-abbrev', '--no-renames', '--relative']
  const [diff, listed] = await Promise.all([
    gitText(['diff', '--cached', ...raw, '--', '.'], git),
    indexBelow(folder),
  ])
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
 * What `--all --reflog` leaves out: trees, blobs and tags that refs name, replacements, and all that could be an object
 * in pseudo refs such as FETCH_HEAD and the state of a rebase. Each is an id, with the ref if it has one.
 */
async function otherNames(folder: string, dirs: readonly string[]): Promise<string[]> {
  const format = '--format=%(objecttype) %(objectname) %(refname)'
  const refs = dirs.length === 0 ? '' : await gitText(['for-each-ref', format], { cwd: folder })
  const named = refs.matchAll(/^(?:(?!commit )\w+ (.+)|commit (\w+ refs\/replace\/.+))$/gm)
  const places = dirs.flatMap((dir) =>
    STATE_FOLDERS.map(([name, id]) => ({ place: join(dir, name), id })),
  )
  const words = await Promise.all(places.map(({ place, id }) => wordsIn(place, id)))
  return [
    ...new Set([...[...named].map(([, other, commit]) => (other ?? commit)!), ...words.flat()]),
  ]
}

async function wordsIn(folder: string, id: RegExp): Promise<string[]> {
  const found: string[] = []
  const real = await realPathOf(folder)
  for (const name of await entriesIn(real)) {
    if (WITHOUT_NAMES.test(name)) continue
    const path = await realPathOf(join(real, name))
    const read = await readRegular(path, { maxBytes: MAX_STATE_BYTES })
    if (read.ok) found.push(...(read.bytes.toString('latin1').match(id) ?? []))
    // links are resolved, so one that is left leads to nothing
    else if (!/^(?:missing|not_a_file|symbolic_link)$/.test(read.reason))
      throw new Error(`${path}: ${read.detail}`)
  }
  return found
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
