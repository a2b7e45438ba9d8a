import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { openInputFile } from '../output/input-file.ts'
import { openOutputPipes, type PipeSupply } from '../output/output-pipe.ts'

/** `none` reads as empty; `text` is the complete input. */
export type StandardInput = 'none' | 'pipe' | { text: string }

export interface StandardStreams {
  /** Null if there is nothing to write to. */
  stdin: Writable | null
  stdout: Readable
  stderr: Readable
}

export interface StandardPipes {
  /** The value for `spawn`. */
  stdio: ('ignore' | 'pipe' | number)[]
  /** Our ends; null if the child was not started. */
  streamsOf(child: ChildProcess): StandardStreams | null
  /** Call this once the child has its ends, or will never get them. */
  closeTheirs(): void
  /** Call this if no child was started. */
  closeOurs(): void
}

/**
 * With `scratch`, a folder of the service, uses real pipes for the output (from `supply` if given) and a file for a
 * text. Without it, or if they cannot be created, uses Node's sockets, which a child cannot open as `/dev/stdin`
 * and the like.
 */
export async function openStandardPipes(
  input: StandardInput,
  scratch: string | undefined,
  supply?: PipeSupply,
): Promise<StandardPipes> {
  const text = typeof input === 'object' ? input.text : null
  const file = scratch && text !== null ? await openInputFile(scratch, text) : null
  const outputs = supply ? await supply.next() : scratch ? await openOutputPipes(scratch) : null
  const [out, err] = outputs ?? []
  const plain = input === 'none' ? 'ignore' : 'pipe'
  return {
    stdio: [file?.descriptor ?? plain, out?.descriptor ?? 'pipe', err?.descriptor ?? 'pipe'],
    streamsOf(child) {
      const stdout = out?.stream ?? child.stdout
      const stderr = err?.stream ?? child.stderr
      if (child.pid === undefined || !stdout || !stderr) return null
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
