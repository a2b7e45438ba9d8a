import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { codeOf } from '../../files/errno.ts'
import { serviceProgram } from '../../files/service-program.ts'
import { runProgram } from '../../platform/program.ts'
import { openInputFile } from './input-file.ts'

/** `none` reads as empty; `text` is the complete input. */
export type StandardInput = 'none' | 'pipe' | { text: string }

export interface StandardStreams {
  /** Null if there is nothing to write to. */
  stdin: Writable | null
  stdout: Readable
  stderr: Readable
}

interface StandardPipes {
  /** Values for `spawn`. Standard error belongs at 4, where the launcher expects it. */
  stdio: ['ignore' | 'pipe' | number, 'pipe' | number, 'pipe' | number]
  /** Our ends; null if the child was not started. */
  streamsOf(child: ChildProcess): StandardStreams | null
  /** Call this once the child has its ends, or will never get them. */
  closeTheirs(): void
  /** Call this if no child was started. */
  closeOurs(): void
}

/**
 * With `scratch`, a folder of the service, uses real pipes for the output and a file for a text. Without it, or if they cannot be created, uses Node's sockets, which a child cannot open as `/dev/stdin`
 * and the like.
 */
export async function openStandardPipes(
  input: StandardInput,
  scratch: string | undefined,
): Promise<StandardPipes> {
  const text = typeof input === 'object' ? input.text : null
  const file = scratch && text !== null ? await openInputFile(scratch, text) : null
  const outputs = scratch ? await openOutputPipes(scratch) : null
  const [out, err] = outputs ?? []
  const plain = input === 'none' ? 'ignore' : 'pipe'
  return {
    stdio: [file?.descriptor ?? plain, out?.descriptor ?? 'pipe', err?.descriptor ?? 'pipe'],
    streamsOf(child) {
      if (child.pid === undefined) return null // without descriptors it has not even `stdio`
      const stdout = out?.stream ?? child.stdout
      const stderr = err?.stream ?? (child.stdio[4] as Readable | undefined)
      if (!stdout || !stderr) return null
      if (text !== null && child.stdin) feed(child.stdin, text)
      return { stdin: child.stdin, stdout, stderr }
    },
    closeTheirs() {
      for (const pipe of outputs ?? []) pipe.closeWriter()
      file?.close()
    },
    closeOurs() {
      for (const pipe of outputs ?? []) pipe.stream.destroy()
    },
  }
}

/** Ignores errors: a child may exit without reading its input. */
function feed(stdin: Writable, text: string): void {
  stdin.on('error', () => {})
  stdin.end(text)
}

/** A real pipe: what a child writes to `descriptor` can be read from `stream`. */
interface OutputPipe {
  stream: Readable
  descriptor: number
  /** Call this once the child has the descriptor; otherwise the stream would never end. */
  closeWriter(): void
}

/** For standard output and standard error. */
type OutputPipes = [OutputPipe, OutputPipe]

/**
 * Creates pipes through named pipes in `folder`, which are unlinked before use. Node itself would give a child
 * sockets, which a script cannot open as `/dev/stderr`. Null if the system cannot create them: no `mkfifo`, no such
 * folder, no descriptor left.
 */
async function openOutputPipes(folder: string): Promise<OutputPipes | null> {
  const stem = join(folder, randomBytes(8).toString('hex'))
  const names = [`${stem}.out`, `${stem}.err`] as const
  const opened: OutputPipe[] = []
  try {
    const { exit } = await runProgram({
      file: serviceProgram('mkfifo'),
      args: ['-m', '600', ...names],
      cwd: folder,
      env: process.env,
      input: '',
      maxBytes: Number.POSITIVE_INFINITY,
      timeoutMs: 10_000,
    })
    if (exit !== 0) return null
    for (const name of names) opened.push(openPipe(name))
    return opened as OutputPipes
  } catch (error) {
    for (const { closeWriter, stream } of opened) {
      closeWriter()
      stream.destroy()
    }
    if (codeOf(error) === '') throw error
    return null
  } finally {
    await Promise.all(names.map(removeName))
  }
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
