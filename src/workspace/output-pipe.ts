import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { hasCode } from './errno.ts'

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
 * `/dev/stderr`. Null where the system has no `mkfifo`.
 */
export async function openOutputPipes(folder: string): Promise<[OutputPipe, OutputPipe] | null> {
  const stem = join(folder, randomBytes(8).toString('hex'))
  const names = [`${stem}.out`, `${stem}.err`] as const
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...names], { timeout: 10_000 })
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
  try {
    return [openPipe(names[0]), openPipe(names[1])]
  } finally {
    await Promise.all(names.map((name) => unlink(name)))
  }
}

/** The reader first, without waiting for a writer; then the writer finds it and does not wait either. */
function openPipe(name: string): OutputPipe {
  const { O_RDONLY, O_NONBLOCK, O_WRONLY, O_NOFOLLOW } = constants
  const reader = openSync(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  const descriptor = openSync(name, O_WRONLY | O_NOFOLLOW)
  return {
    stream: new Socket({ fd: reader, readable: true, writable: false }),
    descriptor,
    closeWriter: () => closeSync(descriptor),
  }
}
