import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { codeOf } from '../disk/errno.ts'

/** A true pipe: what a child writes to `descriptor` is read from `stream`. */
export interface OutputPipe {
  stream: Readable
  descriptor: number
  /** To be called once the child has the descriptor; else the stream would never end. */
  closeWriter(): void
}

/**
 * Pipes for a child's standard output and error, made by way of named pipes in `folder`, whose names
 * are gone when this resolves. Node itself gives a child sockets, which a script cannot open as
 * `/dev/stderr`. Null where the system cannot make them: no `mkfifo`, no such folder, no descriptor left.
 */
export async function openOutputPipes(folder: string): Promise<[OutputPipe, OutputPipe] | null> {
  const stem = join(folder, randomBytes(8).toString('hex'))
  const names = [`${stem}.out`, `${stem}.err`] as const
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...names], { timeout: 10_000 })
    return openBoth(names)
  } catch (error) {
    if (codeOf(error) === '') throw error
    return null
  } finally {
    await Promise.all(names.map(removeName))
  }
}

function openBoth(names: readonly [string, string]): [OutputPipe, OutputPipe] {
  const first = openPipe(names[0])
  try {
    return [first, openPipe(names[1])]
  } catch (error) {
    first.closeWriter()
    first.stream.destroy()
    throw error
  }
}

/** A name that stays is only that: nothing is ever written there. */
async function removeName(name: string): Promise<void> {
  try {
    await unlink(name)
  } catch (error) {
    if (codeOf(error) === '') throw error
  }
}

/** The reader first, without waiting for a writer; then the writer finds it and does not wait either. */
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
