import { dirname, join, relative, sep } from 'node:path'
import type { MountPoint } from '../../files/mount-points.ts'
import { isWithin } from '../../files/real-path.ts'

/** What is inside of another one counts for itself. */
export interface GuardedFolders {
  /** May be read, not changed. */
  readOnly: readonly string[]
  /** Seem empty, but for the open ones in them. */
  hidden: readonly string[]
  /** Stay writable. */
  open: readonly string[]
}

/** Mounts as words for the script `MOUNT_ALL`, and what a look from below them must find. */
export interface MountPlan {
  words: string[]
  /** For the script `LOOK`. */
  checks: string[]
}

export interface WholePlan extends MountPlan {
  /** What something is mounted on. */
  paths: string[]
}

/**
 * Makes the mounts that its arguments ask for, up to `run`, and becomes the program after it. The first
 * two are the programs `mount` and `mkdir`, kept by names that no variable of the program has. What is
 * to be seen again of a hidden folder is mounted from the current folder, the one place from which
 * what lies below the new mount can still be named.
 */
export const MOUNT_ALL = `
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

/** Exits with 0 if all is as its arguments say: pairs of a word (or the number of entries) and a path. */
export const LOOK = `
wrong() { printf '%s %s\\n' "$2" "$1" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    closed) [ ! -w "$2" ] || wrong 'can still be written' "$2" ;;
    open) [ -w "$2" ] || wrong 'cannot be written any more' "$2" ;;
    *)
      count=0
      for entry in "$2"/* "$2"/.[!.]* "$2"/..?*; do
        if [ -e "$entry" ] || [ -L "$entry" ]; then count=$((count + 1)); fi
      done
      [ "$count" -eq "$1" ] || wrong 'still shows what is in it' "$2" ;;
  esac
  shift 2
done`

/** Of real paths that exist. Those that a hidden folder swallows are left out. */
export function planMounts(folders: GuardedFolders, mounts: readonly MountPoint[]): WholePlan {
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

/** The outer ones first. */
function placesOf({ readOnly, hidden, open }: GuardedFolders): Place[] {
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
 * Where what is closed or hidden lies, the outer folders first. Each is mounted on itself, because what is
 * a mount point cannot be renamed: nobody can put another folder where the service looks for a guarded one.
 */
function foldersAround(places: readonly Place[]): string[] {
  const guarded = places.filter(({ kind }) => kind !== 'open')
  const around = [...new Set(guarded.flatMap(({ path }) => parentsOf(path)))]
  const isWritable = (path: string) => (innermost(path, places)?.kind ?? 'open') === 'open'
  return around.filter(isWritable).sort((a, b) => a.length - b.length)
}

/** All but the root. */
function parentsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === dirname(parent) ? [] : [...parentsOf(parent), parent]
}

/** The last place that a path lies in. */
function innermost(path: string, places: readonly Place[]): Place | undefined {
  return places.findLast((place) => isWithin(place.path, path))
}

/** The open folders right inside of a place. */
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

/** What is mounted below it is of the same bind, but stays writable until it is made read-only itself. */
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

/** Of the mount that a path is on. */
function optionsAt(path: string, mounts: readonly MountPoint[]): string[] {
  const around = mounts.filter((mount) => isWithin(mount.path, path))
  around.sort((a, b) => a.path.length - b.path.length)
  return around.at(-1)?.options ?? []
}

/** The others are kept by name: who is not the true root may not leave out a `nosuid` that was there. */
function readOnly(options: readonly string[]): string {
  return [...options.filter((option) => option !== 'rw' && option !== 'ro'), 'ro'].join(',')
}
