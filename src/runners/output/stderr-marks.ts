import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasCode } from '../../files/errno.ts'

/*
 * A log mixes both streams. Beside it, a hidden file says which of its bytes came from standard error, such as
 * `0-12 40-`: the last range has no end while the step prints there, or if the service was killed then.
 */

/** Bytes from `from` up to but excluding `to`. */
export interface MarkedBytes {
  from: number
  to: number
}

/** Further ranges are not marked: they only colour standard error. */
const MAX_RANGES = 2000

export interface StderrMarks {
  /** Call before bytes of a stream are appended at this offset. Does not throw: a log without marks is whole. */
  mark(isError: boolean, offset: number): void
  close(offset: number): void
}

/** Marks are written at once, so they survive the end of this process. The file is made with the first. */
export function createStderrMarks(logPath: string): StderrMarks {
  let file: number | null = null
  let isOpen = false
  let count = 0
  const append = (text: string) => {
    try {
      const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants
      file ??= openSync(marksPath(logPath), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0o644)
      writeSync(file, text)
    } catch {
      count = MAX_RANGES // a disk that is full is reported by the log itself
    }
  }
  const mark = (isError: boolean, offset: number) => {
    if (isError === isOpen || (isError && count >= MAX_RANGES)) return
    isOpen = isError
    if (isError) count++
    append(isError ? `${offset}-` : `${offset} `)
  }
  return {
    mark,
    close(offset) {
      mark(false, offset)
      if (file !== null) closeSync(file)
    },
  }
}

/** Empty if nothing is known. */
export async function readStderrMarks(logPath: string, size: number): Promise<MarkedBytes[]> {
  let text: string
  try {
    text = await readFile(marksPath(logPath), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES')) return []
    throw error
  }
  return [...text.matchAll(/(?<!\d)(\d+)-(\d*)/g)].map(([, from, to]) => ({
    from: Number(from),
    to: to === '' ? size : Number(to),
  }))
}

/** No name of an artifact begins with a dot. */
function marksPath(logPath: string): string {
  return join(dirname(logPath), `.${basename(logPath)}.stderr`)
}
