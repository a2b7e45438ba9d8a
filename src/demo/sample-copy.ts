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
import { gitText } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import { takeOwnership } from '../state/owner/ownership.ts'
import { defaultStateFolder, openStateFolder } from '../state/state-folder.ts'
import { MEMORY_ROOT_FILES } from '../workspace/layout.ts'

interface SampleCopyOptions {
  /** Keep an existing copy as it is. */
  keep?: boolean
  /** Replace an existing copy, with all changes in it and its state folder. */
  force?: boolean
}

interface SampleCopy {
  /** False if an existing copy was kept. */
  made: boolean
  /** Whether the copy is a git repository; false if git is not installed. */
  git: boolean
}

/**
 * Copies the sample to the folder `to` and makes it a git repository with one commit. The copy appears completely
 * or not at all. A folder with files in it is never changed; it is replaced only with `force` and only if it is a
 * copy of the sample. Otherwise throws `already_exists`.
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
      `${to} is already a copy of the sample. Use --keep to keep it, or --force to recreate it and discard its changes`,
    )
  }
  if (present === 'other') {
    throw new AppError(
      'already_exists',
      `${to} exists and is not a copy of the sample, so it was not changed. Name a folder that does not exist yet`,
    )
  }

  const beside = present === 'empty' ? target : dirname(target)
  await mkdir(beside, { recursive: true })
  const workshop = await mkdtemp(join(beside, `.${basename(target)}.making-`))
  try {
    const copy = join(workshop, 'new')
    await copyFiles(await realpath(from), copy) // resolve a link to the sample, as npm link makes one
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
 * Removes this machine's state of a copy, from which a service would restore the old copy's sessions. Throws
 * `already_active` while a service uses the copy.
 */
async function removeState(target: string): Promise<void> {
  const memoryRoot = join(target, 'memory')
  const folder = await defaultStateFolder(memoryRoot, process.env)
  const state = await openStateFolder(folder, { memoryRoot, workspaceRoot: target })
  const ownership = await takeOwnership({ memoryRoot, stateDir: state.root, short: true })
  await ownership.release()
  await rm(state.root, { recursive: true, force: true })
}

/** Marks a folder as a copy of the sample. Inside .git it is not part of the working tree. */
const GIT_MARK = join('.git', 'casefile-sample')
const PLAIN_MARK = '.casefile-sample'

type Present = 'nothing' | 'empty' | 'copy' | 'other'

/** A symbolic link counts as other, because its target is not ours to replace. */
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

/** Fills an empty folder without replacing it, because it may be a mount point or a shell's current folder. */
async function fill(target: string, copy: string, mark: string): Promise<void> {
  const marked = dirname(mark) === '.' ? mark : dirname(mark)
  const others = (await readdir(copy)).filter((name) => name !== marked)
  for (const name of [...others, marked]) await rename(join(copy, name), join(target, name))
}

/** Copies links as links and keeps modes. */
async function copyFiles(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => path === from || !['.git', 'node_modules'].includes(basename(path)),
  })
}

/** Sets the time of a case's files to the last time in them: a copy is new, and lists show how long cases have waited. */
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

/** The npm package does not include these files. */
async function addGitFiles(memory: string): Promise<void> {
  if (!(await exists(memory))) return
  for (const [name, content] of Object.entries(MEMORY_ROOT_FILES)) {
    const file = join(memory, name)
    if (!(await exists(file))) await writeFile(file, content)
  }
}

/** False if git is not installed. Ignores all git settings, hooks and templates of the user and the machine. */
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

/** Turns off what git reads from default places even without a config file. */
const SETTINGS = Object.entries({
  'user.name': 'Casefile sample',
  'user.email': 'sample@casefile.invalid',
  'init.defaultBranch': 'main',
  'core.excludesFile': devNull,
  'core.attributesFile': devNull,
  'commit.gpgSign': 'false',
  'safe.directory': '*',
}).flatMap(([name, value]) => ['-c', `${name}=${value}`])
