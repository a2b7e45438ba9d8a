/** Keeps the processes of a run from writing to protected folders: all of them start in one enclosure, below its mounts. */

import { tmpdir } from 'node:os'
import { codeOf } from '../../files/errno.ts'
import { isShort } from '../../files/storage-error.ts'
import { AppError } from '../../model/app-error.ts'
import { mountPoints } from '../../platform/mounts.ts'
import { openInputFile } from '../output/input-file.ts'
import { MOST_OPENED, type SandboxFolders } from '../process/sandbox-plan.ts'
import { createEnclosure, type Enclosed, type Enclosure } from './enclosure.ts'
import { findFolders, planFound } from './found-folders.ts'
import { type HelperOptions, LATE, openHelper, STOPPED } from './helper-process.ts'
import { mountHelper, plainHelper } from './helper-script.ts'
import { findTool, findTools, type Preference, type Tools, type Way, waysOf } from './mount-ways.ts'
import { openPipeFolder, otherPipeRoots, type PipeFolder, pipeRoots } from './step-pipes.ts'

/** Where the programs of a run are started. The caller must `end` it. */
export type Sandbox = Enclosure & {
  /** The words of a command that runs the program behind them in this folder, see `sandbox-runtime.ts`. */
  before?: (cwd: string) => string[]
} & (
    | {
        kind: 'mount'
        /** Whether its processes have a process namespace: they see no others, and `end` ends all of them. */
        ownProcesses: boolean
        /** Where the changes of `overlay` of its folders are; null if that folder is read-only. */
        overlay: 'disk' | 'memory' | null
      }
    | { kind: 'none'; reason: string }
  )

export interface SandboxOptions {
  prefer?: Preference
  /** Most variables of its programs; others are set for each of them. */
  env?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
}

const READY_WITHIN_MS = 10_000
const NOT_ALLOWED = 'unshare is not allowed here'

/**
 * Makes mounts for the processes of a run, in the first way that works on these very folders. Paths that do not exist are
 * left out.
 */
export async function openSandbox(
  folders: SandboxFolders,
  options: SandboxOptions = {},
): Promise<Sandbox> {
  if (mountPoints() === null) return noSandbox('private mounts exist only on Linux')
  const tools = findTools()
  if ('missing' in tools) return noSandbox(`the program ${tools.missing} is not installed`)
  let reason = ''
  for (const way of waysOf(tools, options.prefer)) {
    for (const each of overlaysOf(folders)) {
      const open = () => openMounts(way, tools, each, options)
      const enclosed = await open()
      if (!('failure' in enclosed)) {
        const enclosure = createEnclosure(open, [tools.setsid, ...way.inner], enclosed)
        const { ownProcesses } = way
        return { ...enclosure, kind: 'mount', ownProcesses, overlay: overlayOf(each) }
      }
      reason = enclosed.failure
      if (reason.startsWith(NOT_ALLOWED)) break // whatever is mounted
      if (options.signal?.aborted) return noSandbox(reason)
    }
  }
  return noSandbox(reason)
}

/** Where no overlay can be made, its folder is read-only. Programs see a layer in memory: it is read by way of them. */
function overlaysOf(folders: SandboxFolders): SandboxFolders[] {
  const { overlay, ...others } = folders
  if (!overlay) return [folders]
  const hidden = others.hidden.filter((path) => path !== overlay.layer)
  return [
    folders,
    { ...others, hidden, overlay: { ...overlay, inMemory: true } },
    { ...others, readOnly: [...others.readOnly, overlay.at] },
  ]
}

function overlayOf({ overlay }: SandboxFolders): 'disk' | 'memory' | null {
  if (!overlay) return null
  return overlay.inMemory ? 'memory' : 'disk'
}

/** The same without mounts. Its helper is started with its first program. */
export function noSandbox(reason = 'no sandbox was requested'): Sandbox {
  const setsid = findTool('setsid')
  const open = async (env: Record<string, string>) => {
    const pipes = openPipeFolder()
    return enclosedBy(pipes, {
      words: plainHelper(),
      env,
      table: null,
      hasSetsid: setsid !== null,
      ownProcesses: false,
      withinMs: READY_WITHIN_MS,
    })
  }
  return { ...createEnclosure(open, setsid === null ? [] : [setsid]), kind: 'none', reason }
}

async function openMounts(
  { outer, drop, ownProcesses }: Way,
  { mount }: Tools,
  folders: SandboxFolders,
  { env = {}, signal }: SandboxOptions,
): Promise<Enclosed | { failure: string }> {
  if (signal?.aborted) return { failure: STOPPED }
  const pipes = openPipeFolder()
  const found = await findFolders({
    ...folders,
    hidden: [...folders.hidden, ...pipeRoots(), ...otherPipeRoots()],
  })
  const plan = planFound(found, ownProcesses)
  if (plan.opened.length > MOST_OPENED) {
    await pipes.remove()
    return { failure: `more than ${MOST_OPENED} hidden folders have open ones inside` }
  }
  // mount reads no table from a pipe
  const table = await openInputFile(pipes.path, `${plan.table}\n`, mustHaveMeans)
  if (table === null) {
    await pipes.remove()
    return { failure: `no file can be written in ${tmpdir()}` }
  }
  try {
    const words = [...outer, ...mountHelper(mount, { ...plan, overlay: found.overlay }, drop)]
    const waits = { withinMs: READY_WITHIN_MS, signal }
    const options = { words, env, table, hasSetsid: true, ownProcesses, ...waits }
    const enclosed = await enclosedBy(pipes, options)
    return 'failure' in enclosed ? { failure: reasonOf(enclosed.failure) } : enclosed
  } catch (error) {
    mustHaveMeans(error)
    throw error
  } finally {
    table.close()
  }
}

async function enclosedBy(
  pipes: PipeFolder,
  options: Omit<HelperOptions, 'cwd'>,
): Promise<Enclosed | { failure: string }> {
  const env = { ...options.env, LC_ALL: 'C' } // it reads what mount and the shell say
  try {
    const helper = await openHelper({ ...options, env, cwd: pipes.path })
    if ('failure' in helper) await pipes.remove()
    return 'failure' in helper ? helper : { helper, pipes, env }
  } catch (error) {
    await pipes.remove()
    throw error
  }
}

function reasonOf(failure: string): string {
  if (failure === STOPPED) return failure
  if (failure === LATE) return `the mounts were not made within ${READY_WITHIN_MS / 1000} s`
  return failure.startsWith('unshare: ')
    ? `${NOT_ALLOWED}: ${failure.slice('unshare: '.length)}`
    : `the mounts do not hold here: ${failure}`
}

/** A lack of descriptors or processes passes. Meanwhile nothing may run with less protection. */
function mustHaveMeans(error: unknown): void {
  if (!isShort(error)) return
  const what = `The sandbox could not be started: ${codeOf(error)}`
  throw new AppError('storage_failed', `${what}. Wait a little, then try again.`, { cause: error })
}
