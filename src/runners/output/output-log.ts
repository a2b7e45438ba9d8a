import { createHash } from 'node:crypto'
import { constants, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { plainText } from '../../files/plain-text.ts'
import { storageError } from '../../files/storage-error.ts'
import { endOfText } from './end-of-text.ts'
import { createStderrMarks } from './stderr-marks.ts'

const MIB = 1024 * 1024
/** Escape sequences can make a file several times as long as its text. */
const READ_FACTOR = 4

export interface OutputLog {
  /**
   * Written bytes survive the end of this process, but not a crash of the machine. Disk errors are not thrown here:
   * `close` returns the first. Bytes of standard error are marked (stderr-marks.ts).
   */
  write(bytes: Uint8Array, isError?: boolean): void
  /** Flushes everything to disk. */
  close(): Promise<OutputLogResult>
}

export interface OutputLogResult {
  /** The number of bytes written to the log. */
  bytes: number
  /** The number of bytes in the file, without the line that says where it was cut. */
  kept: number
  truncated: boolean
  /** Why not all of it could be stored. */
  failure?: unknown
  /** Of the bytes in the file. */
  sha256: string
}

/**
 * A new file for the output of one step. Bytes after `maxBytes` are dropped, and `close` adds a line that says how
 * many. Rejects with EEXIST if `path` exists, even as a link.
 */
export async function openOutputLog(path: string, maxBytes = 20 * MIB): Promise<OutputLog> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_APPEND } = constants
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND, 0o644)
  let bytes = 0
  let kept = 0
  const hash = createHash('sha256')
  const marks = createStderrMarks(path)
  let closing: Promise<OutputLogResult> | undefined
  let failed: { error: unknown } | undefined

  // synchronous, so that output published next is in the file even if this process dies
  const append = (part: Uint8Array) => {
    failed ??= attempt(() => {
      for (let at = 0; at < part.length; ) at += writeSync(file.fd, part, at)
      hash.update(part)
    })
  }

  const finish = async (): Promise<OutputLogResult> => {
    marks.close(kept)
    const truncated = kept < bytes
    if (truncated) append(Buffer.from(cutLine(maxBytes, bytes - kept)))
    try {
      if (bytes > 0) await file.sync()
    } catch (error) {
      failed ??= { error }
    } finally {
      await file.close()
    }
    const result = { bytes, kept, truncated, sha256: hash.digest('hex') }
    if (!failed) return result
    return { ...result, truncated: true, failure: storageError(failed.error, path) }
  }

  return {
    write(part, isError = false) {
      if (closing !== undefined) throw new Error(`${path} is closed: call write() before close()`)
      bytes += part.length
      const room = part.subarray(0, maxBytes - kept)
      if (room.length === 0) return
      marks.mark(isError, kept)
      kept += room.length
      append(room)
    },
    close() {
      closing ??= finish()
      return closing
    },
  }
}

/**
 * The end of a log as plain text for markdown, cut as by `endOfText`. Invalid UTF-8 becomes U+FFFD. Reads at most four
 * times `maxBytes`. Rejects with the system's error if it is not a regular file: ELOOP, EISDIR, EINVAL for a pipe or
 * device.
 */
export async function endOfFile(
  path: string,
  maxBytes: number,
): Promise<{ text: string; isCut: boolean }> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile() && !stats.isDirectory()) {
      throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EINVAL' })
    }
    const from = Math.max(0, stats.size - maxBytes * READ_FACTOR)
    const bytes = await read(file, from, stats.size - from)
    const end = endOfText(plainText(bytes.toString('utf8')), maxBytes)
    return { text: end.text, isCut: end.isCut || from > 0 }
  } finally {
    await file.close()
  }
}

function cutLine(maxBytes: number, dropped: number): string {
  const limit = maxBytes % MIB === 0 ? `${maxBytes / MIB} MiB` : `${maxBytes} bytes`
  return `\n[casefile: output cut here at ${limit}; ${dropped} more bytes were dropped]\n`
}

/** Returns the error, for `close`. */
function attempt(work: () => void): { error: unknown } | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return { error }
  }
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}
