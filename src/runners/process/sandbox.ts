/** Keeps the processes of a run from writing to protected folders: each starts below read-only mounts of its own. */

import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { existingPaths, isWithin } from '../../files/real-path.ts'
import { type MountPoint, mountPoints } from '../../platform/mounts.ts'
import { openFilePath } from '../../platform/proc.ts'
import { type InputFile, openInputFile } from '../output/input-file.ts'
import { findProgram } from './find-program.ts'

export type Sandbox =
  | {
      kind: 'mount'
      /**
       * The command that makes the mounts, checks them, and then runs a shell script. The script gets `args`, followed by
       * the words of a program, which it must execute without changing them: the first ones drop the power to undo the
       * mounts. The program must be an absolute path.
       */
      wrap(
        script: string,
        args: readonly string[],
        program: readonly string[],
      ): Promise<SandboxCommand>
    }
  | { kind: 'none'; reason: string }

export interface SandboxCommand {
  words: string[]
  /** The mounts, which the command must get as descriptor 5; null if the file cannot be created. */
  table: InputFile | null
}

/** Folders to mount. For nested folders, the innermost setting applies. */
export interface SandboxFolders {
  /** Readable, not writable. */
  readOnly: readonly string[]
  /** Shown as empty, except for open folders inside it. */
  hidden: string | null
  /** Stay writable. */
  open: readonly string[]
}

/**
 * Only matters for a real root user. `isolation`: programs cannot reach the folders through other
 * processes, which may see them as writable; but they can no longer change file owners. `powers`: they keep that capability.
 */
export type Preference = 'isolation' | 'powers'

export const NO_SANDBOX: Sandbox = { kind: 'none', reason: 'no sandbox was requested' }

/**
 * Finds a way to make mounts for the processes of a run, and tries it out on these very folders. Folders that do not
 * exist are left out.
 */
export async function openSandbox(
  folders: SandboxFolders,
  signal?: AbortSignal,
  prefer: Preference = 'isolation',
): Promise<Sandbox> {
  if (mountPoints() === null) return none('private mounts exist only on Linux')
  const tools = await findTools()
  if ('missing' in tools) return none(`the program ${tools.missing} is not installed`)
  const [hidden = null] = await existingPaths(folders.hidden === null ? [] : [folders.hidden])
  const found: SandboxFolders = {
    readOnly: await existingPaths(folders.readOnly),
    hidden,
    open: await existingPaths(folders.open),
  }
  let reason = ''
  for (const { outer, inner } of waysOf(tools, prefer)) {
    const wrap = async (script: string, args: readonly string[], program: readonly string[]) => {
      const { table, checks } = planMounts(found, mountPoints() ?? [])
      const mounts = [tools.mount, hidden ?? '/', ...checks, 'run']
      const end = [...args, ...inner, ...program]
      const shell = ['/bin/sh', '-c', `${MOUNT_SCRIPT}${script}`, 'sandbox']
      return {
        words: [...outer, ...shell, ...mounts, ...end],
        // mount reads no table from a pipe
        table: await openInputFile(tmpdir(), `${table}\n`),
      }
    }
    const wrong = await tryOut(await wrap('exec "$@"', [], ['/bin/sh', '-c', ':']), signal)
    if (wrong === null) return { kind: 'mount', wrap }
    reason = wrong
  }
  return none(reason)
}

function none(reason: string): Sandbox {
  return { kind: 'none', reason }
}

/**
 * Makes the mounts of the table at descriptor 5 in one call of `mount`, then checks pairs of a word (or a number of entries) and a path, up
 * to `run`. Open folders inside the hidden one are mounted from the current folder, the only place from which folders
 * below the new mount can still be named. Its variables cannot clash with the program's.
 */
const MOUNT_SCRIPT = `
wrong() { printf '%s %s\\n' "$2" "$1" >&2; exit 1; }
cd -P -- "$2" || exit
"$1" -n -c -a -T ${openFilePath(5)} || exit
exec 5<&-
cd /
shift 2
while [ "$1" != run ]; do
  case $1 in
    closed) [ ! -w "$2" ] || wrong 'is still writable' "$2" ;;
    open) [ -w "$2" ] || wrong 'is no longer writable' "$2" ;;
    *)
      casefile_count=0
      for casefile_entry in "$2"/* "$2"/.[!.]* "$2"/..?*; do
        if [ -e "$casefile_entry" ] || [ -L "$casefile_entry" ]; then
          casefile_count=$((casefile_count + 1))
        fi
      done
      [ "$casefile_count" -eq "$1" ] || wrong 'still shows its content' "$2" ;;
  esac
  shift 2
done
shift
unset OLDPWD
`

interface Tools {
  unshare: string
  mount: string
  setpriv: string | null
}

async function findTools(): Promise<Tools | { missing: string }> {
  const path = `${process.env.PATH ?? ''}:/usr/bin:/bin:/usr/sbin:/sbin`
  const find = (name: string) => findProgram(name, { path, cwd: '/' })
  const [unshare, mount, setpriv = null] = await Promise.all(
    ['unshare', 'mount', 'setpriv'].map(find),
  )
  if (!unshare) return { missing: 'unshare' }
  if (!mount) return { missing: 'mount' }
  return { unshare, mount, setpriv }
}

/** A root user inside the namespace could use these capabilities to undo the mounts or to bypass them. */
const POWERS = ['sys_admin', 'sys_ptrace', 'sys_module', 'sys_rawio', 'mknod', 'dac_read_search']
  .map((power) => `-${power}`)
  .join(',')

interface Way {
  /** Words before the mount script. */
  outer: string[]
  /** Words before the program that drop the capabilities to undo the mounts. */
  inner: string[]
}

/**
 * The methods to try. An ordinary user can mount as root of a user namespace; a second namespace inside it restores
 * the user's id and removes the power over the mounts. A real root user can also mount directly.
 */
function waysOf({ unshare, setpriv }: Tools, prefer: Preference): Way[] {
  const namespace = ['--mount', '--propagation', 'private']
  const user = process.geteuid?.() ?? 0
  const group = process.getegid?.() ?? 0
  const asUser = {
    outer: [unshare, '--user', '--map-root-user', ...namespace],
    inner: [unshare, '--user', `--map-user=${user}`, `--map-group=${group}`],
  }
  if (user !== 0 || !setpriv) return [asUser]
  const inner = [setpriv, '--bounding-set', POWERS, '--inh-caps', POWERS]
  const asRoot = { outer: [unshare, ...namespace], inner }
  return prefer === 'isolation' ? [asUser, asRoot] : [asRoot, asUser]
}

const PROBE_MS = 10_000

/** Null if everything is protected; else the reason, as a clause. */
async function tryOut(
  { words: [file = '', ...args], table }: SandboxCommand,
  signal?: AbortSignal,
): Promise<string | null> {
  if (table === null) return `no file can be written in ${tmpdir()}`
  try {
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
      timeout: PROBE_MS,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'ignore', 'pipe', 'ignore', 'ignore', table.descriptor],
      ...(signal && { signal }),
    })
    child.on('error', () => {}) // it also closes
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
    const stderr = await text(child.stderr!)
    const code = await closed
    if (code === 0) return null
    if (signal?.aborted) return 'the check was stopped'
    if (child.killed) return `the mounts were not made within ${PROBE_MS / 1000} s`
    const said = stderr.trim().replace(/\s+/g, ' ')
    return said.startsWith('unshare: ')
      ? `unshare is not allowed here: ${said.slice('unshare: '.length)}`
      : `the mounts do not hold here: ${said}`
  } finally {
    table.close()
  }
}

/** Mounts as lines of fstab(5), and checks for `MOUNT_SCRIPT` that must hold once they are made. */
export interface MountPlan {
  table: string
  checks: string[]
}

/** Plans the mounts for existing real paths. Folders inside a hidden one are left out unless they are open. */
export function planMounts(folders: SandboxFolders, mounts: readonly MountPoint[]): MountPlan {
  const places = placesOf(folders)
  const plans = [
    ...places.filter(({ kind }) => kind === 'hidden').map((place) => hide(place, places)),
    ...places.filter(({ kind }) => kind === 'closed').map((place) => close(place, places, mounts)),
  ]
  const open = places.filter(({ kind }) => kind === 'open')
  return {
    table: [...foldersAround(places).map(bind), ...plans.flatMap(({ lines }) => lines)].join('\n'),
    checks: [
      ...plans.flatMap(({ checks }) => checks),
      ...open.flatMap(({ path }) => ['open', path]),
    ],
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
    ...(hidden === null ? [] : [{ kind: 'hidden', path: hidden } as const]),
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

interface PlacePlan {
  lines: string[]
  checks: string[]
}

function hide(place: Place, places: readonly Place[]): PlacePlan {
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
    lines: [
      line('casefile', place.path, 'tmpfs', 'mode=0755,size=1m,nosuid,nodev'),
      ...ways.map((way) => line(`./${way}`, join(place.path, way), 'none', 'rbind,X-mount.mkdir')),
      remount(place.path, 'nosuid,nodev,ro'),
    ],
    checks: [...entries].flatMap(([folder, { size }]) => ['closed', folder, String(size), folder]),
  }
}

/** Mounts below a folder belong to the same bind, but stay writable until each is made read-only itself. */
function close(place: Place, places: readonly Place[], mounts: readonly MountPoint[]): PlacePlan {
  const below = mounts.filter(
    ({ path }) => path !== place.path && innermost(path, places) === place,
  )
  const closed = [{ path: place.path, options: optionsAt(place.path, mounts) }, ...below]
  return {
    lines: [
      bind(place.path),
      ...openIn(place, places).map(bind),
      ...closed.map(({ path, options }) => remount(path, readOnly(options))),
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
  const around = mounts.filter((mount) => isWithin(mount.path, path))
  around.sort((a, b) => a.path.length - b.path.length)
  return around.at(-1)?.options ?? []
}

/** Keeps the other options by name: without real root privileges, dropping an existing `nosuid` is not allowed. */
function readOnly(options: readonly string[]): string {
  return [...options.filter((option) => option !== 'rw' && option !== 'ro'), 'ro'].join(',')
}
