/** The named pipes through which the programs of one enclosure are read. */

import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { hasCode } from '../../files/errno.ts'
import { isFolderNow } from '../../files/folder-names.ts'
import { removeStubborn } from '../../files/remove-stubborn.ts'
import { serviceProgram } from '../../files/service-program.ts'
import { AppError } from '../../model/app-error.ts'
import { exists } from '../../platform/processes.ts'
import { runProgram } from '../../platform/program.ts'

/** `none` reads as empty; `text` is the complete input. */
export type StandardInput = 'none' | 'pipe' | { text: string }

export interface StepPipes {
  /** What the program opens, in the folder. */
  names: { input: string; output: string; errors: string }
  stdout: Readable
  stderr: Readable
  /** Call this once the program has opened its ends. Returns where to write its input; null if there is nothing to write. */
  handOver(): Writable | null
  /** Call this if it never will. */
  close(): void
}

export interface PipeFolder {
  path: string
  next(input: StandardInput): Promise<StepPipes>
  /** What a hostile program keeps there stays. */
  remove(): Promise<void>
}

/** So many programs get their pipes by one call of `mkfifo`. */
const AT_ONCE = 16
const KINDS = ['in', 'out', 'err']

/**
 * Where this user's services keep their pipes: hidden from every run, as what is read there runs outside of it. Also made
 * where services with another TMPDIR have it, so that no run can make it for them.
 */
export function pipeRoots(): string[] {
  const [own, ...others] = rootPaths()
  mustBeOwn(makeRoot(own!))
  // where another user made one, no service of this user keeps pipes
  return [own!, ...others.map(makeRoot).filter(isOwn)]
}

function makeRoot(path: string): string {
  try {
    mkdirSync(path, 0o700)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
  return path
}

function mustBeOwn(path: string): void {
  if (isOwn(path)) return
  throw new AppError(
    'storage_failed',
    `${path} is not a folder that only you can use. Remove it, or start with another TMPDIR.`,
  )
}

const NAME = 'casefile-pipes-'

/** Where services of other users keep theirs, which programs of root could read. */
export function otherPipeRoots(): string[] {
  if (process.geteuid?.() !== 0) return []
  const own = rootPaths()
  return parents().flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => name.startsWith(NAME))
      .map((name) => join(parent, name))
      .filter((path) => !own.includes(path) && isFolderNow(path)),
  )
}

function rootPaths(): string[] {
  return parents().map((parent) => join(parent, `${NAME}${process.getuid?.() ?? 0}`))
}

function parents(): string[] {
  return [...new Set([tmpdir(), '/tmp'].map((path) => realpathSync(path)))]
}

function isOwn(path: string): boolean {
  const { uid, mode } = lstatSync(path)
  return (mode & 0o170077) === 0o040000 && (!process.getuid || uid === process.getuid())
}

/** Removes the folders of services that were killed. */
export async function sweepPipeFolders(): Promise<void> {
  for (const root of rootPaths().filter((path) => existsSync(path) && isOwn(path))) {
    const left = readdirSync(root).map((name) => join(root, name))
    for (const path of left.filter(isLeft)) await removeStubborn(path)
  }
}

/** A pipe that its service reads as long as it lives: opening it to write fails without a reader. */
const ALIVE = 'alive'

/** The process that makes it; one that there is not for other names. */
function makerOf(folder: string): number {
  return Number(/^run-(\d{1,9})-/.exec(basename(folder))?.[1] ?? 2 ** 30)
}

function isLeft(folder: string): boolean {
  try {
    closeSync(openSync(join(folder, ALIVE), O_WRONLY | O_NONBLOCK | O_NOFOLLOW))
    return false
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return !exists(makerOf(folder))
    return hasCode(error, 'ENXIO')
  }
}

/**
 * A new folder for pipes. Real pipes, since a program cannot open Node's sockets as `/dev/stderr`; a text comes in a file,
 * which can be reopened as `/dev/stdin`.
 */
export function openPipeFolder(): PipeFolder {
  const path = mkdtempSync(join(pipeRoots()[0]!, `run-${process.pid}-`))
  let count = 0
  let alive: number | null = null
  const unread = `${ALIVE}.new`
  let made = makePipes(path, 1, [unread]).then(() => {
    alive = openSync(join(path, unread), O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
    renameSync(join(path, unread), join(path, ALIVE))
  })
  made.catch(() => {}) // `next` rejects with it
  return {
    path,
    async next(input) {
      const number = ++count
      if (number > 1 && number % AT_ONCE === 1) made = makePipes(path, number)
      await made
      return openPipes(path, number, input)
    },
    async remove() {
      await Promise.allSettled([made])
      if (alive !== null) closeSync(alive)
      alive = null
      await removeStubborn(path)
    },
  }
}

async function makePipes(folder: string, first: number, more: string[] = []): Promise<void> {
  const numbers = Array.from({ length: AT_ONCE }, (_, index) => first + index)
  const names = numbers.flatMap((number) => KINDS.map((kind) => `${number}.${kind}`))
  const { exit, stderr } = await runProgram({
    file: serviceProgram('mkfifo'),
    args: ['-m', '600', ...names, ...more],
    cwd: folder,
    env: process.env,
    input: '',
    maxBytes: Number.POSITIVE_INFINITY,
    timeoutMs: 10_000,
  })
  if (exit !== 0) throw new Error(`mkfifo failed: ${stderr.trim()}`)
}

function openPipes(folder: string, number: number, input: StandardInput): StepPipes {
  const at = (kind: string) => join(folder, `${number}.${kind}`)
  const held: number[] = []
  const streams: Socket[] = []
  const close = () => {
    for (const descriptor of held.splice(0)) closeSync(descriptor)
    for (const kind of [...KINDS, 'text']) rmSync(at(kind), { force: true })
  }
  const closeAll = () => {
    for (const stream of streams) stream.destroy()
    close()
  }
  /** Without a writer of ours it would seem to have ended before the program opens it. */
  const openReader = (kind: string) => {
    const descriptor = openSync(at(kind), O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
    const stream = new Socket({ fd: descriptor, readable: true, writable: false })
    streams.push(stream)
    held.push(openSync(at(kind), O_WRONLY | O_NOFOLLOW))
    return stream
  }
  try {
    if (typeof input === 'object') writeFileSync(at('text'), input.text, PRIVATE)
    // a program that opens it waits until something writes there
    if (input === 'pipe') held.push(openSync(at('in'), O_RDWR | O_NONBLOCK | O_NOFOLLOW))
    const [stdout, stderr] = [openReader('out'), openReader('err')]
    const read = input === 'none' ? null : input === 'pipe' ? 'in' : 'text'
    return {
      names: {
        input: read === null ? '/dev/null' : `./${number}.${read}`,
        output: `./${number}.out`,
        errors: `./${number}.err`,
      },
      stdout,
      stderr,
      handOver() {
        const stdin = input === 'pipe' ? openWriter(at('in')) : null
        close()
        return stdin
      },
      close: closeAll,
    }
  } catch (error) {
    closeAll()
    throw error
  }
}

const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK, O_NOFOLLOW } = constants
const PRIVATE = { mode: 0o600, flag: 'wx' }

function openWriter(path: string): Writable {
  const descriptor = openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
  return new Socket({ fd: descriptor, readable: false, writable: true })
}
