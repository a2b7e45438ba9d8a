/**
 * The places in a folder from which something starts by itself later (model/later-table.ts), with a stamp of each: also
 * ignored files and the git folders, which no diff has. Only these files are read. In folders of installed packages only
 * the programs for the PATH and nested repositories are looked at.
 */

import type { Dirent, Stats } from 'node:fs'
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { codeOf } from '../files/errno.ts'
import { isWithin } from '../files/real-path.ts'
import { readRegular } from '../files/safe-read.ts'
import { STARTERS, starterOf } from '../model/later-table.ts'
import { type LaterPlaces, scriptsStamp } from '../model/runs-later.ts'
import { type GitFolder, gitFolders, gitFoldersOf } from './git-folders.ts'
import { contentAt, EMPTY_BLOB } from './plan-contents.ts'
import { absolutePath, joinPath, shownPath, walkedPath, walkFolders } from './plan-walk.ts'

export interface LaterScope {
  /** The working folder, as a real path. */
  workdir: string
  /** Absolute paths that do not count. */
  exclude: readonly string[]
  /** Whether the git folder of the working folder counts: not that of a worktree, which the service makes whole. */
  isGitKept: boolean
  /** The folders on the PATH. */
  path: readonly string[]
  home: string
  /** What the configuration of git named when the run began. */
  named: readonly string[]
}

export interface FoundPlaces {
  /** In the working folder and its git folder. */
  own: LaterPlaces
  /** In the home folder. */
  home: LaterPlaces
  /** How many folders were not looked at, because there are too many. */
  unseen: number
}

const MAX_FOLDERS = 50_000
/** A larger file is compared by its size and times. */
const MAX_READ = 8 * 1024 * 1024
const MAX_TEXT = 1024 * 1024
/** Of packages that others made: only what is on the PATH, and repositories. */
const PACKAGES = new Set(['node_modules', 'bower_components', 'site-packages', 'dist-packages'])

type Places = Record<string, { stamp: string; starts: string }>

export async function laterPlaces(scope: LaterScope): Promise<FoundPlaces> {
  const { workdir, home } = scope
  const own: Places = Object.create(null)
  const ofHome: Places = Object.create(null)
  const walk = createWalk(scope, own)
  await walkFolders(workdir, walk.look)
  if (scope.isGitKept) for (const each of await gitFolders(workdir)) await addGitFolder(own, each)
  for (const folder of scope.path) {
    if (isWithin(workdir, folder))
      await addAll(own, folder, relative(workdir, folder), STARTERS.program)
    else if (isWithin(home, folder))
      await addAll(ofHome, folder, `~/${relative(home, folder)}`, STARTERS.program)
  }
  for (const path of scope.named) {
    const name = relative(workdir, path)
    await add(own, name, path, STARTERS.git)
    await addAll(own, path, name, STARTERS.git)
  }
  if (!isWithin(workdir, home)) await addHome(home, ofHome)
  return { own, home: ofHome, unseen: walk.unseen() }
}

/** Paths in the working folder that the configuration of its repository names: hooks, filters, other configuration. */
export async function namedByGit(workdir: string): Promise<string[]> {
  const folders = (await gitFolders(workdir)).filter(({ name }) => name === '.git')
  const found = new Set<string>()
  for (const { path } of folders) {
    for (const name of ['config', 'config.worktree']) {
      const words = wordsIn((await textOf(join(path, name))) ?? '')
      for (const word of words)
        for (const from of [dirname(path), path]) found.add(resolve(from, word))
    }
  }
  return [...found].filter((path) => path !== workdir && isWithin(workdir, path))
}

/** All values that look like a path, and all of keys whose values are one. */
function wordsIn(config: string): string[] {
  return config.split('\n').flatMap((line) => {
    const [key = '', ...value] = line.split('=')
    const isPath = /(?:path|file)$/i.test(key.trimEnd())
    const words = value.join('=').split(/[!"'\s]+/)
    return words.filter(
      (word) => word !== '' && (isPath || (word.includes('/') && !/[+:]/.test(word))),
    )
  })
}

function createWalk({ workdir, exclude }: LaterScope, places: Places) {
  const skipped = new Set(exclude.map((path) => walkedPath(relative(workdir, path))))
  let folders = 0
  let unseen = 0

  async function look(folder: string, entries: Dirent[] | null): Promise<string[]> {
    if (entries === null) return []
    if (++folders > MAX_FOLDERS) {
      unseen++
      return []
    }
    const inPackages = folder.split('/').some((name) => PACKAGES.has(name))
    // packages have programs, tests and settings of their own, which nobody starts
    const isPackage = inPackages && !PACKAGES.has(basename(folder)) && basename(folder) !== '.bin'
    const below: string[] = []
    for (const entry of entries) {
      const path = joinPath(folder, entry.name)
      if (skipped.has(path) || (isPackage && entry.name !== '.git' && !isScope(folder))) continue
      if (entry.name === '.git') await addDotGit(workdir, places, path, entry)
      else if (entry.isDirectory()) below.push(path)
      else if (!isPackage && !(PACKAGES.has(basename(folder)) && !isLoaded(entry.name)))
        await addEntry(workdir, places, path, entry)
    }
    if (!isBare(folder, entries)) return below
    await addGitFolder(places, { path: absolute(workdir, folder), name: shownPath(folder) })
    return []
  }
  return { look, unseen: () => unseen }
}

/** Such as `node_modules/@types`, whose folders are packages. */
function isScope(folder: string): boolean {
  return basename(folder).startsWith('@') && PACKAGES.has(basename(dirname(folder)))
}

/** Python loads them from there by itself. */
function isLoaded(name: string): boolean {
  return name.endsWith('.pth') || /^(?:site|user)customize\.py$/.test(name)
}

/** A repository without a working tree, which git finds in its folder. */
function isBare(folder: string, entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some((entry) => entry.name === name)
  return folder !== '' && has('HEAD') && has('objects') && has('refs')
}

async function addEntry(top: string, places: Places, path: string, entry: Dirent): Promise<void> {
  const name = shownPath(path)
  const at = absolutePath(top, path)
  if (entry.name === 'package.json') return addScripts(places, name, at)
  const starts = starterOf(name)
  if (starts !== null) return add(places, name, at, starts)
  if (entry.isSymbolicLink()) await addLinkedFolder(top, places, path)
}

/** A link to a folder of such places, or to a repository. */
async function addLinkedFolder(top: string, places: Places, path: string): Promise<void> {
  const [name, at] = [shownPath(path), absolute(top, path)]
  const isPackages = PACKAGES.has(basename(name))
  const starts = isPackages ? STARTERS.program : starterOf(`${name}/x`)
  if (starts !== null) {
    await add(places, name, at, starts)
    const [inside, shown] = isPackages ? [join(at, '.bin'), `${name}/.bin`] : [at, name]
    return addAll(places, inside, shown, starts)
  }
  const isRepository = (await lstat(join(at, '.git')).catch(ifGone)) !== null
  if (isRepository) await add(places, name, at, STARTERS.repository)
}

async function addDotGit(top: string, places: Places, path: string, entry: Dirent): Promise<void> {
  const at = absolute(top, path)
  const name = shownPath(path)
  if (!entry.isDirectory()) return add(places, name, at, STARTERS.repository)
  const outer = dirname(name) === '.' ? '' : `${dirname(name)}/`
  for (const { path, name: inner } of await gitFoldersOf({ gitDir: at, common: at }))
    await addGitFolder(places, { path, name: `${outer}${inner}` })
}

const GIT_FILES = [
  'config',
  'config.worktree',
  'commondir',
  'gitdir',
  'info/attributes',
  'objects/info/alternates',
  'rebase-merge/git-rebase-todo',
  'sequencer/todo',
]

async function addGitFolder(
  places: Places,
  { path, name }: Pick<GitFolder, 'path' | 'name'>,
): Promise<void> {
  places[`${name}/`] = { stamp: '- repository', starts: STARTERS.repository }
  for (const file of GIT_FILES) {
    const stamp = await stampOf(join(path, file))
    // an empty one is the same as none: sessions/git-doors.ts makes some
    if (stamp !== null && !stamp.endsWith(EMPTY_BLOB))
      places[`${name}/${file}`] = { stamp, starts: STARTERS.git }
  }
  await addAll(places, join(path, 'hooks'), `${name}/hooks`, STARTERS.hook)
  for (const folder of ['remotes', 'branches'])
    await addAll(places, join(path, folder), `${name}/${folder}`, STARTERS.git)
}

const HOME_FILES =
  `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
.zlogout .inputrc .gitconfig .config/git/config .config/git/attributes .config/fish/config.fish .npmrc .yarnrc.yml
.tool-versions .config/mise/config.toml .cargo/config.toml .ssh/config .ssh/rc .ssh/authorized_keys .envrc
.tmux.conf .vimrc .config/nvim/init.lua .claude/settings.json .claude/CLAUDE.md .claude.json .codex/config.toml
.codex/AGENTS.md .gemini/settings.json .gemini/GEMINI.md .config/opencode/opencode.json`.split(
    /\s+/,
  )
const HOME_FOLDERS = [
  '.config/autostart',
  '.config/systemd/user',
  '.config/fish/conf.d',
  '.local/bin',
  'bin',
]

/** A run without walls reaches it. */
async function addHome(home: string, places: Places): Promise<void> {
  for (const file of HOME_FILES)
    await add(places, `~/${file}`, join(home, file), starterOf(file) ?? STARTERS.program)
  for (const folder of HOME_FOLDERS)
    await addAll(
      places,
      join(home, folder),
      `~/${folder}`,
      starterOf(`${folder}/x`) ?? STARTERS.program,
    )
}

/** The files of one folder. */
async function addAll(places: Places, folder: string, name: string, starts: string): Promise<void> {
  for (const entry of (await readdir(folder).catch(ifGone)) ?? []) {
    if (starts === STARTERS.hook && entry.endsWith('.sample')) continue
    await add(places, name === '' ? entry : `${name}/${entry}`, join(folder, entry), starts)
  }
}

/** The first one to name a place says what starts it. */
async function add(
  places: Places,
  name: string,
  path: string | Buffer,
  starts: string,
): Promise<void> {
  if (places[name]) return
  const stamp = await stampOf(path)
  if (stamp !== null) places[name] = { stamp, starts }
}

async function addScripts(places: Places, name: string, path: Buffer): Promise<void> {
  const text = await textOf(path)
  const scripts = text === null ? null : scriptsOf(text)
  if (scripts === null) await add(places, name, path, STARTERS.scripts)
  else places[name] = { stamp: scriptsStamp(scripts), starts: STARTERS.scripts }
}

/** Null if it is too large, or no file. */
async function textOf(path: string | Buffer): Promise<string | null> {
  const real = await realpath(path, 'utf8').catch(ifGone)
  const read = real === null ? null : await readRegular(real, { maxBytes: MAX_TEXT })
  return read?.ok ? read.bytes.toString() : null
}

/** Null if it is not the JSON of a package. */
function scriptsOf(text: string): Record<string, unknown> | null {
  try {
    const { scripts = {} } = JSON.parse(text)
    return typeof scripts === 'object' ? scripts : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null
    throw error
  }
}

/** Of a link: where it leads, and what is there. Null if the path is not there, or is a folder. */
async function stampOf(path: string | Buffer): Promise<string | null> {
  const stats = await lstat(path).catch(ifGone)
  if (stats === null || stats.isDirectory()) return null
  if (!stats.isSymbolicLink()) return fileStamp(path, stats)
  const link = await readlink(path).catch(ifGone)
  const real = await realpath(path, 'buffer').catch(ifGone)
  const target = real === null ? null : await stat(real).catch(ifGone)
  const there = real === null || target === null ? '- nowhere' : await fileStamp(real, target)
  return `${there.slice(0, 2)}link ${link} ${there.slice(2)}`
}

async function fileStamp(path: string | Buffer, stats: Stats): Promise<string> {
  const { mode, size, mtimeMs, ctimeMs } = stats
  const sign = stats.isFile() && mode & 0o111 ? 'x' : '-'
  if (stats.isFile() && size > MAX_READ) return `${sign} ${size} ${mtimeMs} ${ctimeMs}`
  const content = (await contentAt(path, '', {})) ?? 'gone'
  // its mode is not compared, but for the kind of file and whether it is an executable
  return `${sign} ${stats.isFile() ? content.replace(/^\d+ /, '') : content}`
}

function absolute(top: string, path: string): string {
  return join(top, shownPath(path))
}

/** What cannot be examined, or is gone meanwhile, is not there. */
function ifGone(error: unknown): null {
  if (codeOf(error) === '') throw error
  return null
}

/** The folders on a PATH, as it is used in the working folder. */
export function foldersOnPath(path: string, workdir: string): string[] {
  const folders = path.split(':').map((each) => (isAbsolute(each) ? each : resolve(workdir, each)))
  return [...new Set(folders)]
}
