import { dirname, join, relative, sep } from 'node:path'
import type { MountPoint } from '../../files/mount-points.ts'
import { isWithin } from '../../files/real-path.ts'

/** Folders to mount. For nested folders, the innermost setting applies. */
export interface SandboxFolders {
  /** Readable, not writable. */
  readOnly: readonly string[]
  /** Shown as empty, except for open folders inside them. */
  hidden: readonly string[]
  /** Stay writable. */
  open: readonly string[]
}

/** Mounts as arguments for `MOUNT_SCRIPT`, and checks that must hold once they are made. */
export interface MountPlan {
  words: string[]
  /** Arguments for `PROBE_SCRIPT`. */
  checks: string[]
}

export interface WholePlan extends MountPlan {
  /** The mount points. */
  paths: string[]
}

/**
 * Makes the mounts that its arguments describe, up to `run`, then executes the rest as a program. The first two
 * arguments are the paths of `mount` and `mkdir`, kept in names that cannot clash with the program's variables.
 * Open folders inside a hidden one are mounted from the current folder, the only place from which folders below the
 * new mount can still be named.
 */
export const MOUNT_SCRIPT = `
set -e
casefile_mount=$1 casefile_mkdir=$2
shift 2
while [ "$1" != run ]; do
  case $1 in
    hide)
      cd -P -- "$2"
      "$casefile_mount" -n -t tmpfs -o mode=0755,size=1m,nosuid,nodev casefile "$2"
      shift 2 ;;
    show)
      "$casefile_mkdir" -p -- "$3"
      "$casefile_mount" -n --no-canonicalize --rbind "./$2" "$3"
      shift 3 ;;
    bind)
      "$casefile_mount" -n --rbind "$2" "$2"
      shift 2 ;;
    set)
      "$casefile_mount" -n -o "remount,bind,$2" "$3"
      shift 3 ;;
  esac
done
shift
cd /
exec "$@"`

/** Checks pairs of a word (or a number of entries) and a path; exits with 0 if all hold. */
export const PROBE_SCRIPT = `
wrong() { printf '%s %s\\n' "$2" "$1" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    closed) [ ! -w "$2" ] || wrong 'is still writable' "$2" ;;
    open) [ -w "$2" ] || wrong 'is no longer writable' "$2" ;;
    *)
      count=0
      for entry in "$2"/* "$2"/.[!.]* "$2"/..?*; do
        if [ -e "$entry" ] || [ -L "$entry" ]; then count=$((count + 1)); fi
      done
      [ "$count" -eq "$1" ] || wrong 'still shows its content' "$2" ;;
  esac
  shift 2
done`

/** Plans the mounts for existing real paths. Folders inside a hidden one are left out unless they are open. */
export function planMounts(folders: SandboxFolders, mounts: readonly MountPoint[]): WholePlan {
  const places = placesOf(folders)
  const around = foldersAround(places)
  const plans = [
    ...places.filter(({ kind }) => kind === 'hidden').map((place) => hide(place, places)),
    ...places.filter(({ kind }) => kind === 'closed').map((place) => close(place, places, mounts)),
  ]
  const open = places.filter(({ kind }) => kind === 'open')
  return {
    words: [...around.flatMap((path) => ['bind', path]), ...plans.flatMap(({ words }) => words)],
    checks: [
      ...plans.flatMap(({ checks }) => checks),
      ...open.flatMap(({ path }) => ['open', path]),
    ],
    paths: [...around, ...places.map(({ path }) => path)],
  }
}

interface Place {
  kind: 'closed' | 'hidden' | 'open'
  path: string
}

/** Sorted with outer folders first. */
function placesOf({ readOnly, hidden, open }: SandboxFolders): Place[] {
  const all: Place[] = [
    ...readOnly.map((path) => ({ kind: 'closed', path }) as const),
    ...hidden.map((path) => ({ kind: 'hidden', path }) as const),
    ...open.map((path) => ({ kind: 'open', path }) as const),
  ]
  all.sort((a, b) => a.path.length - b.path.length)
  const kept: Place[] = []
  for (const place of all) {
    const around = innermost(place.path, kept)
    const isSwallowed = around?.kind === 'hidden' && place.kind !== 'open'
    if (!isSwallowed && around?.kind !== place.kind) kept.push(place)
  }
  return kept
}

/**
 * The parent folders of read-only and hidden folders, outermost first. Each is mounted on itself, because a mount
 * point cannot be renamed: no program can replace a guarded folder by moving a parent.
 */
function foldersAround(places: readonly Place[]): string[] {
  const guarded = places.filter(({ kind }) => kind !== 'open')
  const around = [...new Set(guarded.flatMap(({ path }) => parentsOf(path)))]
  const isWritable = (path: string) => (innermost(path, places)?.kind ?? 'open') === 'open'
  return around.filter(isWritable).sort((a, b) => a.length - b.length)
}

/** All parent folders except the root. */
function parentsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === dirname(parent) ? [] : [...parentsOf(parent), parent]
}

/** The innermost place that contains a path. */
function innermost(path: string, places: readonly Place[]): Place | undefined {
  return places.findLast((place) => isWithin(place.path, path))
}

/** The open folders directly inside a place. */
function openIn(place: Place, places: readonly Place[]): string[] {
  const inner = places.filter(({ kind, path }) => kind === 'open' && path !== place.path)
  return inner
    .filter((open) => innermost(open.path, places.slice(0, places.indexOf(open))) === place)
    .map(({ path }) => path)
}

function hide(place: Place, places: readonly Place[]): MountPlan {
  const ways = openIn(place, places).map((path) => relative(place.path, path))
  const entries = new Map<string, Set<string>>([[place.path, new Set()]])
  for (const way of ways) {
    let folder = place.path
    for (const name of way.split(sep)) {
      entries.set(folder, (entries.get(folder) ?? new Set()).add(name))
      folder = join(folder, name)
    }
  }
  return {
    words: [
      'hide',
      place.path,
      ...ways.flatMap((way) => ['show', way, join(place.path, way)]),
      'set',
      'nosuid,nodev,ro',
      place.path,
    ],
    checks: [...entries].flatMap(([folder, { size }]) => ['closed', folder, String(size), folder]),
  }
}

/** Mounts below a folder belong to the same bind, but stay writable until each is made read-only itself. */
function close(place: Place, places: readonly Place[], mounts: readonly MountPoint[]): MountPlan {
  const below = mounts.filter(
    ({ path }) => path !== place.path && innermost(path, places) === place,
  )
  const closed = [{ path: place.path, options: optionsAt(place.path, mounts) }, ...below]
  return {
    words: [
      'bind',
      place.path,
      ...openIn(place, places).flatMap((path) => ['bind', path]),
      ...closed.flatMap(({ path, options }) => ['set', readOnly(options), path]),
    ],
    checks: closed.flatMap(({ path }) => ['closed', path]),
  }
}

/** The options of the mount that contains a path. */
function optionsAt(path: string, mounts: readonly MountPoint[]): string[] {
  const around = mounts.filter((mount) => isWithin(mount.path, path))
  around.sort((a, b) => a.path.length - b.path.length)
  return around.at(-1)?.options ?? []
}

/** Keeps the other options by name: without real root privileges, dropping an existing `nosuid` is not allowed. */
function readOnly(options: readonly string[]): string {
  return [...options.filter((option) => option !== 'rw' && option !== 'ro'), 'ro'].join(',')
}
