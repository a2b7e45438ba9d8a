/**
 * Finds the files in a folder that other programs run later (model/later-table.ts), with a stamp of each: also ignored
 * files and the git folders, which no diff has. Only these files are read. In folders of installed packages only the
 * programs for the PATH and nested repositories count. Paths are strings of bytes, as in folder-walk.ts.
 */

import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isWithin } from '../files/real-path.ts'
import { findTrigger, HOME_FILES, TRIGGERS } from '../model/later-table.ts'
import { type LaterFiles, UNCHECKED } from '../model/runs-later.ts'
import { joinPath, shownPath, walkedPath, walkFolders } from './folder-walk.ts'
import { gitFolders, gitFoldersOf } from './git-folders.ts'
import { bytesOf, EMPTY, readPackageStamp, readStamp, toUnchecked } from './later-stamps.ts'

export interface LaterScope {
  /** The working folder, as a real path. */
  workdir: string
  /** Absolute paths that do not count. */
  exclude: readonly string[]
  /** Whether the git folder of the working folder counts: not that of a worktree, which the service makes whole. */
  isGitKept: boolean
  /** The folders on the PATH. */
  path: readonly string[]
  /** Null if the run cannot write there. */
  home: string | null
  /** What the configuration of git named when the run began, folders with a slash at the end; null if git refused. */
  named: readonly string[] | null
}

export interface FoundLaterFiles {
  places: LaterFiles
  /** How many places were not checked: too many folders, or a read error. */
  unchecked: number
}

/** The limit for folders of packages, and for all others. */
const MAX_FOLDERS = 50_000
const PACKAGES = new Set(['node_modules', 'bower_components', 'site-packages', 'dist-packages'])

type LaterFilesByName = Record<string, LaterFiles[string]>

interface WalkedFile {
  path: string
  /** From the working folder, or from `~`. */
  name: string
}

/** In the working folder and its git folder. */
export async function findInWorkdir(scope: Omit<LaterScope, 'home'>): Promise<FoundLaterFiles> {
  const { workdir } = scope
  const places: LaterFilesByName = Object.create(null)
  const top = { path: walkedPath(workdir), name: '' }
  const walk = createWalk(scope, top, places)
  await walkFolders(workdir, walk.look)
  if (scope.isGitKept)
    for (const { path, name } of await gitFolders(workdir))
      await addGitFolder(places, { path: walkedPath(path), name: walkedPath(name) })
  for (const folder of scope.path)
    if (isWithin(workdir, folder))
      await addAll(places, placeIn(top, relative(workdir, folder)), TRIGGERS.program)
  for (const path of scope.named ?? []) {
    const place = placeIn(top, relative(workdir, path))
    await add(places, place, TRIGGERS.git)
    if (path.endsWith('/')) await addAll(places, place, TRIGGERS.git)
  }
  return { places, unchecked: walk.unchecked() + failed(places) + (scope.named === null ? 1 : 0) }
}

export async function findInHome({ workdir, path, home }: LaterScope): Promise<FoundLaterFiles> {
  const places: LaterFilesByName = Object.create(null)
  if (home === null) return { places, unchecked: 0 }
  const top = { path: walkedPath(home), name: '~' }
  for (const folder of path)
    if (!isWithin(workdir, folder) && isWithin(home, folder))
      await addAll(places, placeIn(top, relative(home, folder)), TRIGGERS.program)
  if (!isWithin(workdir, home)) await addHome(places, top)
  return { places, unchecked: failed(places) }
}

function failed(places: LaterFiles): number {
  return Object.values(places).filter(({ stamp }) => stamp === UNCHECKED).length
}

function placeIn(folder: WalkedFile, path: string): WalkedFile {
  return below(folder, walkedPath(path))
}

function below({ path, name }: WalkedFile, inner: string): WalkedFile {
  return { path: join(path, inner), name: join(name, inner) }
}

function createWalk(
  { workdir, exclude }: Pick<LaterScope, 'workdir' | 'exclude'>,
  top: WalkedFile,
  places: LaterFilesByName,
) {
  const skipped = new Set(exclude.map((path) => walkedPath(relative(workdir, path))))
  const left = { packages: MAX_FOLDERS, others: MAX_FOLDERS }
  let unchecked = 0

  async function look(folder: string, entries: Dirent[] | null): Promise<string[]> {
    if (entries === null) return []
    const inPackages = folder.split('/').some((name) => PACKAGES.has(name))
    if (left[inPackages ? 'packages' : 'others']-- <= 0) {
      unchecked++
      return []
    }
    const holdsPackages = PACKAGES.has(basename(folder))
    // nothing starts the programs, tests and settings inside packages
    const isChecked = !inPackages || basename(folder) === '.bin'
    const folders: string[] = []
    for (const entry of entries) {
      const path = joinPath(folder, entry.name)
      // the git folder of the working folder itself is read with those of its parents
      const isOwnGit = path === '.git' && entry.isDirectory()
      if (skipped.has(path) || isOwnGit) continue
      if (entry.name === '.git') await addDotGit(places, below(top, path), entry)
      else if (entry.isDirectory()) folders.push(path)
      else if (isChecked || (holdsPackages && isLoaded(entry.name)))
        await addEntry(places, top, { path, entry })
      else if (entry.isSymbolicLink()) await addLinkedFolder(places, below(top, path))
    }
    if (!isBare(folder, entries)) return folders
    await addGitFolder(places, below(top, folder))
    return []
  }
  return { look, unchecked: () => unchecked }
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

/** Null if nothing runs it later. */
function addEntry(
  places: LaterFilesByName,
  top: WalkedFile,
  { path, entry }: { path: string; entry: Dirent },
): Promise<void> | null {
  const isPackage = entry.name === 'package.json'
  const trigger = isPackage ? TRIGGERS.scripts : findTrigger(path)
  if (trigger === null && !entry.isSymbolicLink()) return null
  const place = below(top, path)
  if (trigger === null) return addLinkedFolder(places, place)
  return isPackage ? addPackage(places, place) : add(places, place, trigger)
}

async function addPackage(places: LaterFilesByName, place: WalkedFile): Promise<void> {
  const stamp = await readPackageStamp(place.path)
  if (stamp === null) return add(places, place, TRIGGERS.scripts)
  places[shownPath(place.name)] = { stamp, starts: TRIGGERS.scripts }
}

/** Adds a link to a folder of such places, or to a repository. */
async function addLinkedFolder(places: LaterFilesByName, place: WalkedFile): Promise<void> {
  const isPackages = PACKAGES.has(basename(place.name))
  const trigger = isPackages ? TRIGGERS.program : findTrigger(`${shownPath(place.name)}/x`)
  if (trigger !== null) {
    await add(places, place, trigger)
    return addAll(places, isPackages ? below(place, '.bin') : place, trigger)
  }
  const dotGit = bytesOf(join(place.path, '.git'))
  const isRepository = (await lstat(dotGit).catch(toUnchecked)) !== null
  if (isRepository) await add(places, place, TRIGGERS.repository)
}

async function addDotGit(
  places: LaterFilesByName,
  place: WalkedFile,
  entry: Dirent,
): Promise<void> {
  if (!entry.isDirectory()) return add(places, place, TRIGGERS.repository)
  const gitDir = shownPath(place.path)
  for (const { path, name } of await gitFoldersOf({ gitDir, common: gitDir }))
    await addGitFolder(places, {
      path: join(place.path, walkedPath(relative(gitDir, path))),
      name: join(dirname(place.name), walkedPath(name)),
    })
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

async function addGitFolder(places: LaterFilesByName, place: WalkedFile): Promise<void> {
  const name = shownPath(place.name)
  places[`${name}/`] = { stamp: '- repository', starts: TRIGGERS.repository }
  for (const file of GIT_FILES) {
    const stamp = await readStamp(join(place.path, file))
    // an empty one means the same as none: sessions/git-protected-paths.ts makes some
    if (stamp !== null && !stamp.endsWith(EMPTY))
      places[`${name}/${file}`] = { stamp, starts: TRIGGERS.git }
  }
  await addAll(places, below(place, 'hooks'), TRIGGERS.hook)
  for (const folder of ['remotes', 'branches'])
    await addAll(places, below(place, folder), TRIGGERS.git)
}

/** A run without mounts can write there. */
async function addHome(places: LaterFilesByName, home: WalkedFile): Promise<void> {
  for (const path of HOME_FILES) {
    const place = below(home, path.replace(/\/$/, ''))
    if (path.endsWith('/')) await addAll(places, place, findTrigger(`${path}x`)!)
    else await add(places, place, findTrigger(path)!)
  }
}

/** Adds the files of one folder. */
async function addAll(
  places: LaterFilesByName,
  folder: WalkedFile,
  trigger: string,
): Promise<void> {
  const entries = await readdir(bytesOf(folder.path), 'latin1').catch(toUnchecked)
  if (entries === UNCHECKED)
    places[`${shownPath(folder.name)}/`] ??= { stamp: UNCHECKED, starts: trigger }
  else
    for (const entry of entries ?? [])
      if (trigger !== TRIGGERS.hook || !entry.endsWith('.sample'))
        await add(places, below(folder, entry), trigger)
}

/** The first trigger of a place counts. */
async function add(
  places: LaterFilesByName,
  { path, name }: WalkedFile,
  trigger: string,
): Promise<void> {
  const shown = shownPath(name)
  if (places[shown]) return
  const stamp = await readStamp(path)
  if (stamp !== null) places[shown] = { stamp, starts: trigger }
}
