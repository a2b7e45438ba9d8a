/**
 * Uses `@anthropic-ai/sandbox-runtime`, where the operator has installed it: below the mounts, or instead of them, it
 * lets the programs of a run reach only some hosts.
 */

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readJsonFile } from '../../files/json-file.ts'
import { realPathOf } from '../../files/real-path.ts'
import { notLoaded } from '../../model/app-error.ts'
import { mountPoints } from '../../platform/mounts.ts'
import type { Sandbox } from '../enclosure/sandbox.ts'
import { runStepProcess } from '../enclosure/step-process.ts'
import { openRunFolder } from '../output/run-folder.ts'
import { findProgram } from './find-program.ts'

export const RUNTIME = '@anthropic-ai/sandbox-runtime'
export const INSTALL_RUNTIME = `npm install -g ${RUNTIME}`

export interface SandboxRuntime {
  /** Its program, a script for Node. */
  script: string
  version: string
  /** Programs that it needs and that are not on the PATH. */
  missing: string[]
  /** The versions of Node that it asks for, if this is none of them. */
  wantsNode: string | null
}

/** What it starts on Linux, with the Debian packages. macOS has all it needs. */
const PROGRAMS: Readonly<Record<string, string>> = {
  bwrap: 'bubblewrap',
  socat: 'socat',
  rg: 'ripgrep',
}

interface Where {
  root: string
  path: string | undefined
}

/**
 * Finds the runtime: the program `srt` on the PATH, else the package in a `node_modules` at or above the root. The PATH
 * comes first, because runs may write to the folders of the project.
 */
export async function findRuntime({ root, path }: Where): Promise<SandboxRuntime | null> {
  const program = await findProgram('srt', { path, cwd: '/' })
  const global = program && (await readPackage(dirname(dirname(await realPathOf(program)))))
  const found = global || (await packageAbove(root))
  return found && { ...found, missing: await missingPrograms(path) }
}

async function packageAbove(folder: string): Promise<PackageFacts | null> {
  const found = await readPackage(join(folder, 'node_modules', RUNTIME))
  if (found || folder === dirname(folder)) return found
  return packageAbove(dirname(folder))
}

type PackageFacts = Omit<SandboxRuntime, 'missing'>

/** The package in a folder; null if there is none, or another one. */
async function readPackage(folder: string): Promise<PackageFacts | null> {
  const facts = (await readJsonFile(join(folder, 'package.json'))) as {
    name?: unknown
    version?: unknown
    bin?: { srt?: unknown }
    engines?: { node?: unknown }
  } | null
  if (facts?.name !== RUNTIME || typeof facts.bin?.srt !== 'string') return null
  const { default: satisfies } = await import('semver/functions/satisfies.js').catch(notLoaded)
  const wanted = typeof facts.engines?.node === 'string' ? facts.engines.node : '*'
  return {
    script: join(folder, facts.bin.srt),
    version: String(facts.version),
    wantsNode: satisfies(process.version, wanted) ? null : wanted,
  }
}

async function missingPrograms(path: string | undefined): Promise<string[]> {
  if (mountPoints() === null) return []
  const names = Object.keys(PROGRAMS)
  const found = await Promise.all(names.map((name) => findProgram(name, { path, cwd: '/' })))
  return names.filter((_, at) => found[at] === null)
}

/** Such as `bwrap, rg (apt install bubblewrap ripgrep)`. */
export function missingText(programs: readonly string[]): string {
  return `${programs.join(', ')} (apt install ${programs.map((name) => PROGRAMS[name]).join(' ')})`
}

/** What programs may write to and do not see where no mounts hold; null where mounts do, or nothing has to. */
export interface RuntimeFolders {
  writable: readonly string[]
  readOnly: readonly string[]
  hidden: readonly string[]
}

export interface RuntimeWall {
  hosts: readonly string[]
  folders: RuntimeFolders | null
}

/**
 * Puts the runtime before every program of a sandbox, after trying out that it starts and that nothing but it leads to
 * the network. Below mounts it may have no view of the processes for itself, so that is tried without. The caller must
 * `end` the result, which ends the sandbox too; if something is wrong, that has ended already.
 */
export async function openRuntime(
  sandbox: Sandbox,
  runtime: Pick<SandboxRuntime, 'script'>,
  wall: RuntimeWall,
  { env, signal }: { env: Record<string, string>; signal: AbortSignal },
): Promise<{ sandbox: Sandbox } | { wrong: string }> {
  // its sockets have the same names in several process namespaces, and a path of at most 108 bytes
  const scratch = await openRunFolder(tmpdir(), `casefile-${randomBytes(6).toString('hex')}`)
  const end = async () => {
    await sandbox.end()
    await scratch.close()
  }
  let wrong = ''
  for (const isNested of sandbox.kind === 'mount' ? [false, true] : [false]) {
    const settings = runtimeSettings(wall, isNested)
    const before = (cwd: string) => wordsBefore(runtime, { settings, scratch: scratch.path, cwd })
    const tried: Sandbox = { ...sandbox, before, end }
    const why = await tryOut(tried, scratch.path, { env, signal })
    if (why === null) return { sandbox: tried }
    wrong ||= why
  }
  await end()
  return { wrong }
}

/** The text of its settings file. */
export function runtimeSettings({ hosts, folders }: RuntimeWall, isNested: boolean): string {
  return JSON.stringify({
    network: { allowedDomains: hosts, deniedDomains: [], allowLocalBinding: true },
    filesystem: {
      denyRead: folders?.hidden ?? [],
      // inside of what is hidden, such as the folder of the run
      allowRead: folders?.writable ?? [],
      allowWrite: folders?.writable ?? ['/'],
      denyWrite: folders?.readOnly ?? [],
    },
    ...(isNested ? { enableWeakerNestedSandbox: true } : {}),
  })
}

/**
 * The runtime starts in the scratch folder, where it puts empty files that keep dotfiles from being made, and the program in its own. The settings come as a here-document: a file
 * could be changed by a program that an earlier step left.
 */
const START = `
cd -P -- "$2" || exit
unset OLDPWD
casefile_settings=$1
export casefile_tmpdir="\${TMPDIR-}" TMPDIR="$2"
shift 2
exec "$@" 9<<CASEFILE_SETTINGS
$casefile_settings
CASEFILE_SETTINGS
`
const ENTER = `
cd -P -- "$1" || exit
shift
unset OLDPWD
if [ -n "$casefile_tmpdir" ]; then TMPDIR=$casefile_tmpdir; else unset TMPDIR; fi
unset casefile_tmpdir
exec "$@"`

function wordsBefore(
  { script }: Pick<SandboxRuntime, 'script'>,
  { settings, scratch, cwd }: { settings: string; scratch: string; cwd: string },
): string[] {
  const start = ['/bin/sh', '-c', START, 'runtime', settings, scratch]
  const runtime = [process.execPath, '--no-warnings', script, '--settings', '/dev/fd/9', '--']
  return [...start, ...runtime, '/bin/sh', '-c', ENTER, 'program', cwd]
}

const TRY_MS = 20_000
const REACHED = 43

/** Null if programs start, and none reaches a port of this machine by itself; else why not, as a clause. */
async function tryOut(
  sandbox: Sandbox,
  cwd: string,
  { env, signal }: { env: Record<string, string>; signal: AbortSignal },
): Promise<string | null> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const script = `require('node:net').connect(${port}, '127.0.0.1')
.on('connect', () => process.exit(${REACHED})).on('error', () => process.exit(0))`
  let said = ''
  try {
    const { exit, timedOut, startError } = await runStepProcess({
      argv: [process.execPath, '--eval', script],
      cwd,
      env,
      timeoutMs: TRY_MS,
      signal,
      sandbox,
      onOutput(_, bytes) {
        said = (said + bytes).slice(-1000)
      },
    })
    if (exit === 0) return null
    if (exit === REACHED) return 'programs reach the network without it'
    if (signal.aborted) return 'the check was stopped'
    if (timedOut) return `it did not start within ${TRY_MS / 1000} s`
    return `it does not start here: ${(startError ?? said).trim().replace(/\s+/g, ' ') || `exit ${exit}`}`
  } finally {
    server.close()
  }
}
