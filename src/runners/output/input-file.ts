import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../files/errno.ts'

/** To be read from its beginning by a child. */
export interface InputFile {
  descriptor: number
  /** To be called once the child has the descriptor. */
  close(): void
}

/**
 * A file that holds `text`, whose name in `folder` is gone when this resolves. As a standard input it
 * can be opened again as `/dev/stdin`, which a socket of node's cannot, and a named pipe only while
 * somebody writes to it. Null where it cannot be made.
 */
export async function openInputFile(folder: string, text: string): Promise<InputFile | null> {
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
    return null
  }
}
