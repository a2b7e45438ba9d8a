/** Plans the private mounts of a sandbox, as a table for `mount` and checks that must hold afterwards. */

import { basename, dirname, join, relative, sep } from 'node:path'
import { leadsTo, type MountPoint } from '../../platform/mounts.ts'
import { openFilePath, PROC_FOLDER } from '../../platform/proc.ts'

/** Paths to mount. For nested ones, the innermost setting applies. */
export interface SandboxFolders {
  /** Readable, not writable. `/` means everything, with all that is mounted there. */
  readOnly: readonly string[]
  /** Folders shown as empty, except for open folders inside them; and files shown as empty. */
  hidden: readonly string[]
  /** Stay writable. */
  open: readonly string[]
  /** At the path `at`, what is at `shows` is seen and can be written; made in this order, before all else. */
  views?: readonly SandboxView[]
  overlay?: SandboxOverlay | null
}

/** A folder that programs see and change as ever, while it stays as it is. */
export interface SandboxOverlay {
  at: string
  /** An existing folder with the empty folders `upper`, which gets the changes, and `work`. */
  layer: string
  /** Whether the layer is made in memory, over that folder, because an overlay cannot keep changes in another one. */
  inMemory?: boolean
}

export interface SandboxView {
  at: string
  shows: string
}

/** Mounts as lines of fstab(5), and checks for `MOUNT_SCRIPT` that must hold once they are made. */
export interface MountPlan {
  table: string
  checks: string[]
  /**
   * Hidden folders with open ones inside, and what an overlay is made of: the script opens them, from `FIRST_DESCRIPTOR`
   * on, before they are covered.
   */
  opened: string[]
}

export interface PlanFacts {
  /** The mounts of this process. */
  mounts: readonly MountPoint[]
  /** Hidden paths that are no folders. */
  files?: readonly string[]
  /** Whether an open path is to be checked; it may not have been writable before. */
  isChecked?: (path: string) => boolean
  /** Whether a mount can be reached by its path. */
  isReachable?: (path: string) => boolean
  /** Whether the processes have a process namespace, whose processes alone are to be shown. */
  ownProcesses?: boolean
}

/** A shell has one digit for a descriptor. */
export const FIRST_DESCRIPTOR = 6
export const MOST_OPENED = 4

/** Plans the mounts for existing real paths. Paths inside a hidden folder are left out unless they are open. */
export function planMounts(folders: SandboxFolders, facts: PlanFacts): MountPlan {
  const { isChecked = () => true } = facts
  const { overlay = null } = folders
  const layers = overlay === null ? [] : [overlay.at, overlay.layer]
  const below = belowOverlay(folders, facts)
  const views = [...(folders.views ?? []), ...below.open]
  const readOnly = [...folders.readOnly, ...below.mounted.map(({ at }) => at)]
  const open = folders.open.filter((path) => !below.open.some(({ at }) => at === path))
  const places = placesOf({ ...folders, readOnly, open, views }, facts)
  const hidden = places
    .filter((place) => place.kind === 'hidden' && openIn(place, places).length > 0)
    .map(({ path }) => path)
  const opened = [...layers, ...hidden]
  const plans = [
    ...places
      .filter(({ kind }) => kind === 'hidden')
      .map((place) => (place.isFile ? blank(place) : hide(place, places, opened))),
    ...places.filter(({ kind }) => kind === 'closed').map((place) => close(place, places, facts)),
  ]
  const writable = places.filter(({ kind, path }) => kind === 'open' && isChecked(path))
  const closed = folders.readOnly.filter((path) => innermost(path, places)?.kind === 'closed')
  return {
    table: [
      ...(facts.ownProcesses
        ? [line('casefile-processes', PROC_FOLDER, 'proc', 'nosuid,nodev,noexec')]
        : []),
      ...(overlay === null ? [] : [overlayLine(overlay)]),
      // by its usual name, `mount` takes it for mounted already
      ...below.mounted.map(({ at, shows }) => line(shows, anotherName(at), 'none', 'rbind')),
      ...views.map(({ at, shows }) => line(shows, at, 'none', 'rbind')),
      ...foldersAround(places, facts).map(bind),
      ...plans.flatMap(({ lines }) => lines),
    ].join('\n'),
    checks: [
      ...plans.flatMap(({ checks }) => checks),
      ...closed.flatMap((path) => ['closed', path]),
      ...writable.flatMap(({ path }) => ['open', path]),
    ],
    opened,
  }
}

interface BoundPath {
  kind: 'closed' | 'hidden' | 'open'
  path: string
  /** What an open place shows, if it is not what was there. */
  shows?: string
  isFile?: boolean
}

/** Sorted with outer folders first. */
function placesOf(
  { readOnly, hidden, open, views = [], overlay }: SandboxFolders,
  facts: PlanFacts,
): BoundPath[] {
  const files = new Set(facts.files)
  const all: BoundPath[] = [
    ...(overlay ? [{ kind: 'open', path: overlay.at, shows: 'overlay' } as const] : []),
    ...readOnly.map((path) => ({ kind: 'closed', path }) as const),
    ...hidden.map((path) => ({ kind: 'hidden', path, isFile: files.has(path) }) as const),
    ...open.map((path) => ({ kind: 'open', path }) as const),
    ...views.map(({ at, shows }) => ({ kind: 'open', path: at, shows }) as const),
  ]
  all.sort((a, b) => a.path.length - b.path.length)
  const kept: BoundPath[] = []
  for (const place of all) {
    const around = innermost(place.path, kept)
    const isSwallowed = around?.kind === 'hidden' && (around.isFile || place.kind !== 'open')
    const isNew = around?.kind !== place.kind || place.shows !== undefined
    if (!isSwallowed && isNew) kept.push(place)
  }
  return kept
}

/**
 * The parent folders of read-only and hidden folders, outermost first. Each is mounted on itself, because a mount
 * point cannot be renamed: no program can replace a guarded folder by moving a parent.
 */
function foldersAround(places: readonly BoundPath[], { mounts }: PlanFacts): string[] {
  const guarded = places.filter(({ kind, isFile }) => kind !== 'open' && !isFile)
  const around = [...new Set(guarded.flatMap(({ path }) => parentsOf(path)))]
  const isWritable = (path: string) => (innermost(path, places)?.kind ?? 'open') === 'open'
  const own = places.filter((place) => place.kind === 'open' && isBound(place, places))
  const points = new Set([...mounts, ...own].map(({ path }) => path))
  return around
    .filter((path) => isWritable(path) && !points.has(path))
    .sort((a, b) => a.length - b.length)
}

/** Whether an open place gets a separate mount. */
function isBound(place: BoundPath, places: readonly BoundPath[]): boolean {
  return place.shows !== undefined || innermost(place.path, before(place, places)) !== undefined
}

const [LOWER, LAYER] = [FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + 1].map(openFilePath)

/** By descriptors, because its options have no way to write every name. */
function overlayLine({ at }: SandboxOverlay): string {
  const layers = `lowerdir=${LOWER},upperdir=${LAYER}/upper,workdir=${LAYER}/work`
  return line('casefile-overlay', at, 'overlay', `${layers},userxattr`)
}

/** Paths inside of the overlay that show what is below it. */
interface BelowOverlay {
  /** They stay writable. */
  open: SandboxView[]
  /** The mounts there: an overlay does not have them. */
  mounted: SandboxView[]
}

function belowOverlay(folders: SandboxFolders, facts: PlanFacts): BelowOverlay {
  const { overlay, open } = folders
  if (!overlay) return { open: [], mounted: [] }
  const { at } = overlay
  const places = placesOf(folders, facts)
  const viewsOf = (paths: readonly string[]) =>
    paths
      .filter((path) => path !== at && leadsTo(at, path))
      .filter((path) => innermost(dirname(path), places)?.kind !== 'hidden')
      .sort((a, b) => a.length - b.length)
      .map((path) => ({ at: path, shows: `${LOWER}/${relative(at, path)}` }))
  const { isReachable = () => true } = facts
  const mounts = facts.mounts.map(({ path }) => path).filter(isReachable)
  return { open: viewsOf(open), mounted: viewsOf(mounts) }
}

function anotherName(path: string): string {
  return `${dirname(path)}/./${basename(path)}`
}

/** All parent folders except the root. */
function parentsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === dirname(parent) ? [] : [...parentsOf(parent), parent]
}

/** The innermost place that contains a path. */
function innermost(path: string, places: readonly BoundPath[]): BoundPath | undefined {
  return places.findLast((place) => leadsTo(place.path, path))
}

function before(place: BoundPath, places: readonly BoundPath[]): readonly BoundPath[] {
  return places.slice(0, places.indexOf(place))
}

/** The open places directly inside a place. */
function openIn(place: BoundPath, places: readonly BoundPath[]): BoundPath[] {
  const inner = places.filter(({ kind, path }) => kind === 'open' && path !== place.path)
  return inner.filter((open) => innermost(open.path, before(open, places)) === place)
}

interface PlacePlan {
  lines: string[]
  checks: string[]
}

function hide(
  place: BoundPath,
  places: readonly BoundPath[],
  opened: readonly string[],
): PlacePlan {
  const ways = openIn(place, places).map(({ path }) => relative(place.path, path))
  const entries = new Map<string, Set<string>>([[place.path, new Set()]])
  for (const way of ways) {
    let folder = place.path
    for (const name of way.split(sep)) {
      entries.set(folder, (entries.get(folder) ?? new Set()).add(name))
      folder = join(folder, name)
    }
  }
  // below the new mount, its folders can only be named from a descriptor
  const from = openFilePath(FIRST_DESCRIPTOR + opened.indexOf(place.path))
  return {
    lines: [
      line('casefile', place.path, 'tmpfs', 'mode=0755,size=1m,nosuid,nodev'),
      ...ways.map((way) =>
        line(`${from}/${way}`, join(place.path, way), 'none', 'rbind,X-mount.mkdir'),
      ),
      remount(place.path, 'nosuid,nodev,ro'),
    ],
    checks: [...entries].flatMap(([folder, { size }]) => ['closed', folder, String(size), folder]),
  }
}

/** A file without content, also for those that may read it. */
function blank({ path }: BoundPath): PlacePlan {
  return { lines: [line('/dev/null', path, 'none', 'bind')], checks: ['blank', path] }
}

/** Mounts below a folder belong to the same bind, but stay writable until each is made read-only itself. */
function close(
  place: BoundPath,
  places: readonly BoundPath[],
  { mounts, isReachable = () => true }: PlanFacts,
): PlacePlan {
  const isMount = (path: string) => mounts.some((mount) => mount.path === path)
  const below = mounts.filter(
    ({ path }) => path !== place.path && innermost(path, places) === place && isReachable(path),
  )
  const closed = [{ path: place.path, options: optionsAt(place.path, mounts) }, ...below]
  const open = openIn(place, places).filter(
    ({ path, shows }) => shows === undefined && !isMount(path),
  )
  return {
    lines: [
      // the root is a mount already, and nothing can be mounted over it for those who have it
      ...(place.path === '/' ? [] : [bind(place.path)]),
      ...open.map(({ path }) => bind(path)),
      // `mount` leaves out a line for the root by its usual name
      ...closed.map(({ path, options }) => remount(path === '/' ? '/.' : path, readOnly(options))),
    ],
    checks: closed.flatMap(({ path }) => ['closed', path]),
  }
}

function bind(path: string): string {
  return line(path, path, 'none', 'rbind')
}

/** The source is a word that no mount has: `mount` skips what seems to be mounted already. */
function remount(path: string, options: string): string {
  return line('casefile-remount', path, 'none', `remount,bind,${options}`)
}

function line(source: string, path: string, type: string, options: string): string {
  return [escaped(source), escaped(path), type, escaped(options), '0', '0'].join(' ')
}

function escaped(word: string): string {
  return word.replace(/[\s\\#]/g, (found) =>
    Buffer.from(found).reduce((text, byte) => `${text}\\${byte.toString(8).padStart(3, '0')}`, ''),
  )
}

/** The options of the mount that contains a path. */
function optionsAt(path: string, mounts: readonly MountPoint[]): string[] {
  const around = mounts.filter((mount) => leadsTo(mount.path, path))
  around.sort((a, b) => a.path.length - b.path.length)
  return around.at(-1)?.options ?? []
}

/** Keeps the other options by name: without real root privileges, dropping an existing `nosuid` is not allowed. */
function readOnly(options: readonly string[]): string {
  return [...options.filter((option) => option !== 'rw' && option !== 'ro'), 'ro'].join(',')
}
