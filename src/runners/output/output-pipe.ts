import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { codeOf } from '../../files/errno.ts'

/** A real pipe: what a child writes to `descriptor` can be read from `stream`. */
export interface OutputPipe {
  stream: Readable
  descriptor: number
  /** Call this once the child has the descriptor; otherwise the stream would never end. */
  closeWriter(): void
}

/** Pipes for a child's standard output and standard error. */
export type OutputPipes = [OutputPipe, OutputPipe]

/** Pipes for children that are started one after the other. */
export interface PipeSupply {
  /** Null if the system cannot create them: no `mkfifo`, no such folder, no descriptor left. */
  next(): Promise<OutputPipes | null>
  /** Closes the unused pipes. */
  close(): void
}

/** How many pairs one `mkfifo` call creates: starting the program is the slow part. */
const AT_ONCE = 8

/**
 * Creates pipes through named pipes in `folder`, which are unlinked before use. Node itself would give a child
 * sockets, which a script cannot open as `/dev/stderr`.
 */
export function createPipeSupply(folder: string, count: number): PipeSupply {
  const ready: OutputPipes[] = []
  let left = count
  return {
    async next() {
      if (ready.length === 0) {
        const many = Math.max(1, Math.min(AT_ONCE, left))
        ready.push(...((await openPairs(folder, many)) ?? (await openPairs(folder, 1)) ?? []))
      }
      left--
      return ready.shift() ?? null
    },
    close() {
      for (const pipe of ready.splice(0).flat()) drop(pipe)
    },
  }
}

/** Creates the pipes of one child. */
export function openOutputPipes(folder: string): Promise<OutputPipes | null> {
  return createPipeSupply(folder, 1).next()
}

async function openPairs(folder: string, count: number): Promise<OutputPipes[] | null> {
  const names = Array.from({ length: count }, () => {
    const stem = join(folder, randomBytes(8).toString('hex'))
    return [`${stem}.out`, `${stem}.err`] as const
  })
  const opened: OutputPipe[] = []
  const open = (name: string) => {
    const pipe = openPipe(name)
    opened.push(pipe)
    return pipe
  }
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...names.flat()], { timeout: 10_000 })
    return names.map(([out, err]): OutputPipes => [open(out), open(err)])
  } catch (error) {
    for (const pipe of opened) drop(pipe)
    if (codeOf(error) === '') throw error
    return null
  } finally {
    await Promise.all(names.flat().map(removeName))
  }
}

function drop({ closeWriter, stream }: OutputPipe): void {
  closeWriter()
  stream.destroy()
}

/** If the name cannot be removed, that does no harm: nothing is ever written there. */
async function removeName(name: string): Promise<void> {
  try {
    await unlink(name)
  } catch (error) {
    if (codeOf(error) === '') throw error
  }
}

/** Opens the reading end first, without blocking; then opening the writing end does not block either. */
function openPipe(name: string): OutputPipe {
  const { O_RDONLY, O_NONBLOCK, O_WRONLY, O_NOFOLLOW } = constants
  const reader = openSync(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  try {
    const descriptor = openSync(name, O_WRONLY | O_NOFOLLOW)
    return {
      stream: new Socket({ fd: reader, readable: true, writable: false }),
      descriptor,
      closeWriter: () => closeSync(descriptor),
    }
  } catch (error) {
    closeSync(reader)
    throw error
  }
}
