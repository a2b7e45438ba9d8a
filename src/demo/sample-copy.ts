import type { Stats } from 'node:fs'
import {
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { devNull } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { AppError } from '../model/app-error.ts'
import { takeOwnership } from '../state/owner/ownership.ts'
import { defaultStateFolder, openStateFolder } from '../state/state-folder.ts'
import { gitText } from '../workspace/git/git-command.ts'
import { MEMORY_ROOT_FILES } from '../workspace/layout.ts'

interface SampleCopyOptions {
  /** Leave a copy that is already there as it is. */
  keep?: boolean
  /** Replace a copy that is already there, with everything that was changed in it and its state folder. */
  force?: boolean
}

interface SampleCopy {
  /** False when an earlier copy was kept. */
  made: boolean
  /** Whether the copy is a git repository: false where git is not installed. */
  git: boolean
}

/**
 * Copies the sample to the folder `to` and makes it a git repository with one commit. The copy
 * appears whole or not at all; in an empty folder it counts as a copy only when it is whole. A
 * folder that holds anything is never written to, and replaced only with `force` and only if it is
 * such a copy: else it is refused (`already_exists`).
 */
export async function copySample(
  from: string,
  to: string,
  options: SampleCopyOptions = {},
): Promise<SampleCopy> {
  const target = resolve(to)
  const present = await look(target)
  if (present === 'copy' && options.keep) {
    return { made: false, git: await exists(join(target, '.git')) }
  }
  if (present === 'copy' && !options.force) {
    throw new AppError(
      'already_exists',
      `${to} is a copy of the sample already: --keep leaves it as it is, --force recreates it and discards its changes`,
    )
  }
  if (present === 'other') {
    throw new AppError(
      'already_exists',
      `${to} exists and is no copy of the sample, so it is left alone: name a folder that is not there yet`,
    )
  }

  const beside = present === 'empty' ? target : dirname(target)
  await mkdir(beside, { recursive: true })
  const workshop = await mkdtemp(join(beside, `.${basename(target)}.making-`))
  try {
    const copy = join(workshop, 'new')
    await copyFiles(await realpath(from), copy) // a link to it, as npm link makes one, is not what is copied
    await addGitFiles(join(copy, 'memory'))
    await restoreTimes(join(copy, 'memory', 'cases'))
    const git = await makeRepository(copy)
    const mark = git ? GIT_MARK : PLAIN_MARK
    await writeFile(join(copy, mark), 'made by: casefile sample\n')
    if (present === 'copy') {
      await removeState(target)
      await rename(target, join(workshop, 'old'))
    }
    if (present === 'empty') await fill(target, copy, mark)
    else await rename(copy, target)
    return { made: true, git }
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
}

/**
 * Removes what this machine remembers about a copy; a service would restore the sessions of the old copy from it.
 * Refuses (`already_active`) while a service uses the copy.
 */
async function removeState(target: string): Promise<void> {
  const memoryRoot = join(target, 'memory')
  const folder = await defaultStateFolder(memoryRoot, process.env)
  const state = await openStateFolder(folder, { memoryRoot, workspaceRoot: target })
  const ownership = await takeOwnership({ memoryRoot, stateDir: state.root, short: true })
  await ownership.release()
  await rm(state.root, { recursive: true, force: true })
}

/** What tells a copy from a folder of the user's own; outside the work tree where there is git. */
const GIT_MARK = join('.git', 'casefile-sample')
const PLAIN_MARK = '.casefile-sample'

type Present = 'nothing' | 'empty' | 'copy' | 'other'

/** A symbolic link counts as other: what it leads to is not ours to replace. */
async function look(target: string): Promise<Present> {
  const stats = await lstatIfThere(target)
  if (!stats) return 'nothing'
  if (!stats.isDirectory()) return 'other'
  if ((await readdir(target)).length === 0) return 'empty'
  const marked = (await exists(join(target, GIT_MARK))) || (await exists(join(target, PLAIN_MARK)))
  return marked ? 'copy' : 'other'
}

async function exists(path: string): Promise<boolean> {
  return (await lstatIfThere(path)) !== undefined
}

async function lstatIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** An empty folder stays the one it is, for it may be a mount or where a shell stands. */
async function fill(target: string, copy: string, mark: string): Promise<void> {
  const marked = dirname(mark) === '.' ? mark : dirname(mark)
  const others = (await readdir(copy)).filter((name) => name !== marked)
  for (const name of [...others, marked]) await rename(join(copy, name), join(target, name))
}

/** Links stay links with the same words in them; modes stay. */
async function copyFiles(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => path === from || !['.git', 'node_modules'].includes(basename(path)),
  })
}

/** A copied file is as old as the copy. Lists show since when a case waits, so its files get the last time that they name. */
async function restoreTimes(cases: string): Promise<void> {
  if (!(await exists(cases))) return
  const found: { files: string[]; last: string }[] = []
  for (const entry of await readdir(cases, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const below = { recursive: true, withFileTypes: true } as const
    const files = (await readdir(join(cases, entry.name), below))
      .filter((each) => each.isFile() && each.name.endsWith('.md'))
      .map((each) => join(each.parentPath, each.name))
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    const times = texts.flatMap((text) => text.match(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g) ?? [])
    found.push({ files, last: times.sort().at(-1) ?? '' })
  }
  const newest =
    found
      .map(({ last }) => last)
      .sort()
      .at(-1) ?? ''
  for (const { files, last } of found) {
    const time = Math.min(Date.parse(last || newest) || Date.now(), Date.now())
    for (const file of files) await utimes(file, new Date(time), new Date(time))
  }
}

/** A package from npm comes without them. */
async function addGitFiles(memory: string): Promise<void> {
  if (!(await exists(memory))) return
  for (const [name, content] of Object.entries(MEMORY_ROOT_FILES)) {
    const file = join(memory, name)
    if (!(await exists(file))) await writeFile(file, content)
  }
}

/** False where git is not installed. No setting, hook or template of the user or machine is used. */
async function makeRepository(folder: string): Promise<boolean> {
  const options = { cwd: folder, env: NO_CONFIG, timeoutMs: TEN_SECONDS }
  const git = (...args: string[]) => gitText([...SETTINGS, ...args], options)
  try {
    await git('init', '--quiet', '--template=')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  await git('add', '--all')
  await git('commit', '--quiet', '--no-verify', '--message=The sample workspace')
  return true
}

const TEN_SECONDS = 10_000

const NO_CONFIG = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
}

/** What git reads from its default places even without any config is set to nothing. */
const SETTINGS = Object.entries({
  'user.name': 'Casefile sample',
  'user.email': 'sample@casefile.invalid',
  'init.defaultBranch': 'main',
  'core.excludesFile': devNull,
  'core.attributesFile': devNull,
  'commit.gpgSign': 'false',
  'safe.directory': '*',
}).flatMap(([name, value]) => ['-c', `${name}=${value}`])
