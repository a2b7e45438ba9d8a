import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../files/errno.ts'

/** A file for a child process to read from its beginning. */
export interface InputFile {
  descriptor: number
  /** Call this once the child has the descriptor. */
  close(): void
}

/**
 * A file that contains `text`, already unlinked from `folder` when this resolves. Unlike one of Node's sockets, it
 * can be reopened as `/dev/stdin`; a named pipe can only while something writes to it. Null if it cannot be
 * created: `onFailure` gets the error of the system.
 */
export async function openInputFile(
  folder: string,
  text: string,
  onFailure: (error: unknown) => void = () => {},
): Promise<InputFile | null> {
  const name = `${join(folder, randomBytes(8).toString('hex'))}.in`
  try {
    await writeFile(name, text, { flag: 'wx', mode: 0o600 })
    try {
      const descriptor = openSync(name, 'r')
      return { descriptor, close: () => closeSync(descriptor) }
    } finally {
      await unlink(name)
    }
  } catch (error) {
    if (codeOf(error) === '') throw error
    onFailure(error)
    return null
  }
}
