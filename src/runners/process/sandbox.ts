/** Keeps the processes of a run from writing to protected folders: each starts below read-only mounts of its own. */

import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { isPassable, isWritable } from '../../files/access.ts'
import { isFolder } from '../../files/folder-names.ts'
import { existingPaths, isWithin } from '../../files/real-path.ts'
import { findServiceProgram } from '../../files/service-program.ts'
import { mountPoints } from '../../platform/mounts.ts'
import { openFilePath } from '../../platform/proc.ts'
import { type InputFile, openInputFile } from '../output/input-file.ts'
import {
  joinWords,
  mustHaveMeans,
  openProcessNamespace,
  type ProcessNamespace,
} from './process-namespace.ts'
import {
  FIRST_DESCRIPTOR,
  MOST_OPENED,
  planMounts,
  type SandboxFolders,
  type SandboxView,
} from './sandbox-plan.ts'

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
      /**
       * Whether its processes have a process namespace: they see no others, and `end` ends all of them. The program is
       * then the child of the process that is started, which ends as the program did.
       */
      ownProcesses: boolean
      /** Whether `overlay` of its folders is one; else that folder is read-only. */
      hasOverlay: boolean
      /** Ends every process that was started in it, at once, where it has a process namespace. */
      end(): Promise<void>
      before?: WordsBefore
    }
  | { kind: 'none'; reason: string; before?: WordsBefore; end?(): Promise<void> }

/** The words of a command that runs the program behind them in this folder, see `sandbox-runtime.ts`. */
export type WordsBefore = (cwd: string) => string[]

export interface SandboxCommand {
  words: string[]
  /** The mounts, which the command must get as descriptor 5; null if the file cannot be created. */
  table: InputFile | null
}

/**
 * Only matters for a real root user. `isolation`: programs cannot reach the folders through other
 * processes, which may see them as writable; but they can no longer change file owners. `powers`: they keep that capability.
 */
export type Preference = 'isolation' | 'powers'

/** `own`: its processes are in a process namespace where that works, which the caller must `end`. */
export type Processes = 'shared' | 'own'

export const NO_SANDBOX: Sandbox = { kind: 'none', reason: 'no sandbox was requested' }

/**
 * Finds a way to make mounts for the processes of a run, and tries it out on these very folders. Paths that do not
 * exist are left out.
 */
export async function openSandbox(
  folders: SandboxFolders,
  signal?: AbortSignal,
  prefer: Preference = 'isolation',
  processes: Processes = 'shared',
): Promise<Sandbox> {
  if (mountPoints() === null) return none('private mounts exist only on Linux')
  const tools = findTools()
  if ('missing' in tools) return none(`the program ${tools.missing} is not installed`)
  const found = await existing(folders)
  const { opened } = planMounts(found, { mounts: [], files: found.files })
  if (opened.length > MOST_OPENED) {
    return none(`more than ${MOST_OPENED} hidden folders have open ones inside`)
  }
  let reason = ''
  for (const way of waysOf(tools, prefer, processes)) {
    for (const each of overlaysOf(found)) {
      const sandbox = sandboxBy(way, tools, each)
      try {
        const probe = await sandbox.wrap('exec "$@"', [], ['/bin/sh', '-c', ':'])
        const wrong = await tryOut(probe, signal)
        if (wrong === null) return sandbox
        reason = wrong
      } catch (error) {
        await sandbox.end()
        throw error
      }
      await sandbox.end()
      if (signal?.aborted) return none(reason)
    }
  }
  return none(reason)
}

/** Where the overlay cannot be made, its folder is read-only. */
function overlaysOf(found: FoundFolders): FoundFolders[] {
  const { overlay } = found
  if (overlay === null) return [found]
  return [found, { ...found, overlay: null, readOnly: [...found.readOnly, overlay.at] }]
}

function none(reason: string): Sandbox {
  return { kind: 'none', reason }
}

interface FoundFolders extends Required<SandboxFolders> {
  /** Hidden paths that are no folders. */
  files: string[]
  /** Open paths that can be written to. */
  writable: ReadonlySet<string>
}

async function existing({
  readOnly,
  hidden,
  open,
  views = [],
  overlay = null,
}: SandboxFolders): Promise<FoundFolders> {
  const [closed, covered, opened] = await Promise.all(
    [readOnly, hidden, open].map((paths) => standing(paths, views)),
  )
  const folders = await Promise.all(covered!.map(isFolder))
  const writable = await Promise.all(opened!.map(isWritable))
  return {
    readOnly: closed!,
    hidden: covered!,
    open: opened!,
    views,
    overlay,
    files: covered!.filter((_, index) => !folders[index]),
    writable: new Set(opened!.filter((_, index) => writable[index])),
  }
}

/** The real paths of existing ones, as they are once the views are made. */
async function standing(
  paths: readonly string[],
  views: readonly SandboxView[],
): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const view = views.find(({ at }) => at !== path && isWithin(at, path))
      if (view === undefined) return existingPaths([path])
      const shown = join(view.shows, relative(view.at, path))
      return (await existingPaths([shown])).length === 0 ? [] : [path]
    }),
  )
  return [...new Set(found.flat())]
}

function sandboxBy(way: Way, tools: Tools, folders: FoundFolders) {
  let processNamespace: ProcessNamespace | null = null
  const reachable = new Map<string, boolean>()

  async function wordsBefore(): Promise<string[]> {
    const { nsenter, setsid } = tools
    if (way.processNamespace === null || nsenter === null || setsid === null) return way.outer
    if (!processNamespace?.isAlive())
      processNamespace = await openProcessNamespace(way.processNamespace)
    // without it the program must not run: its mounts would show the processes of the system
    if (processNamespace === null)
      return ['/bin/sh', '-c', 'echo no process namespace can be made >&2; exit 1']
    return [...joinWords({ nsenter, setsid }, processNamespace, way.isUser), ...way.outer]
  }

  return {
    kind: 'mount' as const,
    ownProcesses: way.processNamespace !== null,
    hasOverlay: folders.overlay !== null,
    async wrap(script: string, args: readonly string[], program: readonly string[]) {
      const mounts = mountPoints() ?? []
      await learnReachable(
        mounts.map(({ path }) => path),
        reachable,
      )
      const { table, checks, opened } = planMounts(folders, {
        mounts,
        files: folders.files,
        isChecked: (path) => folders.writable.has(path),
        isReachable: (path) => reachable.get(path) ?? true,
        ownProcesses: way.processNamespace !== null,
      })
      const words = [tools.mount, ...opened, 'in', ...checks, 'run']
      const end = [...args, ...way.inner, ...program]
      const shell = ['/bin/sh', '-c', `${MOUNT_SCRIPT}${script}`, 'sandbox']
      return {
        words: [...(await wordsBefore()), ...shell, ...words, ...end],
        // mount reads no table from a pipe
        table: await openInputFile(tmpdir(), `${table}\n`, mustHaveMeans),
      }
    },
    async end() {
      await processNamespace?.end()
      processNamespace = null
    },
  }
}

/** What an ordinary user cannot reach needs no mount, and could get none. */
async function learnReachable(paths: readonly string[], known: Map<string, boolean>) {
  if (process.geteuid?.() === 0) return
  const unknown = paths.filter((path) => !known.has(path))
  const found = await Promise.all(unknown.map((path) => isPassable(dirname(path))))
  for (const [index, path] of unknown.entries()) known.set(path, found[index]!)
}

const DESCRIPTORS = Array.from({ length: MOST_OPENED }, (_, index) => FIRST_DESCRIPTOR + index)

/**
 * Opens the hidden folders up to `in`, makes the mounts of the table at descriptor 5 in one call of `mount`, then checks
 * pairs of a word (or a number of entries) and a path, up to `run`. Its variables cannot clash with the program's.
 */
const MOUNT_SCRIPT = `
wrong() { printf '%s %s\\n' "$2" "$1" >&2; exit 1; }
casefile_mount=$1
shift
for casefile_number in ${DESCRIPTORS.join(' ')}; do
  [ "$1" != in ] || break
  eval "exec $casefile_number<\\"\\$1\\"" || exit
  shift
done
shift
"$casefile_mount" -n -c -a -T ${openFilePath(5)} || exit
exec 5<&- ${DESCRIPTORS.map((number) => `${number}<&-`).join(' ')}
cd /
while [ "$1" != run ]; do
  case $1 in
    closed)
      if [ -d "$2" ] || [ -f "$2" ]; then
        [ ! -w "$2" ] || wrong 'is still writable' "$2"
      fi ;;
    open) [ -w "$2" ] || wrong 'is no longer writable' "$2" ;;
    blank) [ ! -f "$2" ] || wrong 'still shows its content' "$2" ;;
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
  nsenter: string | null
  setsid: string | null
  setpriv: string | null
}

function findTools(): Tools | { missing: string } {
  const path = `${process.env.PATH ?? ''}:/usr/bin:/bin:/usr/sbin:/sbin`
  const [unshare, mount, nsenter = null, setsid = null, setpriv = null] = [
    'unshare',
    'mount',
    'nsenter',
    'setsid',
    'setpriv',
  ].map((name) => findServiceProgram(name, path))
  if (!unshare) return { missing: 'unshare' }
  if (!mount) return { missing: 'mount' }
  return { unshare, mount, nsenter, setsid, setpriv }
}

/**
 * What root keeps: as in a container, and no devices. With the other capabilities it could undo the mounts or bypass them,
 * set the clock, or change the network.
 */
const POWERS = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
  'setpcap',
  'setfcap',
  'net_bind_service',
  'net_raw',
  'sys_chroot',
  'audit_write',
]
const BOUNDS = ['-all', ...POWERS.map((power) => `+${power}`)].join(',')

interface Way {
  /** Words before the mount script. */
  outer: string[]
  /** Words before the program that drop the capabilities to undo the mounts. */
  inner: string[]
  /** Words before the options that make a process namespace; null for none. */
  processNamespace: string[] | null
  /** Whether it also has the user namespace. */
  isUser: boolean
}

/**
 * The methods to try. An ordinary user can mount as root of a user namespace; a second namespace inside it restores
 * the user's id and removes the power over the mounts. A real root user can also mount directly.
 */
function waysOf(
  { unshare, nsenter, setsid, setpriv }: Tools,
  prefer: Preference,
  processes: Processes,
): Way[] {
  const mounts = ['--mount', '--propagation', 'private']
  const user = process.geteuid?.() ?? 0
  const group = process.getegid?.() ?? 0
  const namespace = [unshare, '--user', '--map-root-user']
  const asUser = {
    outer: [...namespace, ...mounts],
    inner: [unshare, '--user', `--map-user=${user}`, `--map-group=${group}`],
    isUser: true,
  }
  const asRoot = {
    outer: [unshare, ...mounts],
    inner: [setpriv ?? '', '--bounding-set', BOUNDS, '--inh-caps', '-all'],
    isUser: false,
  }
  const both = prefer === 'isolation' ? [asUser, asRoot] : [asRoot, asUser]
  return (user === 0 && setpriv ? both : [asUser]).flatMap((way) => {
    const shared = { ...way, processNamespace: null }
    if (processes === 'shared' || nsenter === null || setsid === null) return [shared]
    // the user namespace is that of the processes
    const own = {
      ...way,
      outer: [unshare, ...mounts],
      processNamespace: way.isUser ? namespace : [unshare],
    }
    return [own, shared]
  })
}

const PROBE_MS = 10_000
const STOPPED = 'the check was stopped'

/** Null if everything is protected; else the reason, as a clause. */
async function tryOut(
  { words: [file = '', ...args], table }: SandboxCommand,
  signal?: AbortSignal,
): Promise<string | null> {
  if (table === null) return `no file can be written in ${tmpdir()}`
  try {
    if (signal?.aborted) return STOPPED // a quick end would count as a success
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
      timeout: PROBE_MS,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'ignore', 'pipe', 'ignore', 'ignore', table.descriptor],
      ...(signal && { signal }),
    })
    let failure: unknown
    child.on('error', (error) => {
      failure = error // it also closes
    })
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
    const stderr = child.stderr ? await text(child.stderr) : ''
    const code = await closed
    mustHaveMeans(failure)
    if (code === 0) return null
    if (signal?.aborted) return STOPPED
    if (child.killed) return `the mounts were not made within ${PROBE_MS / 1000} s`
    const said = stderr.trim().replace(/\s+/g, ' ')
    return said.startsWith('unshare: ')
      ? `unshare is not allowed here: ${said.slice('unshare: '.length)}`
      : `the mounts do not hold here: ${said}`
  } finally {
    table.close()
  }
}
