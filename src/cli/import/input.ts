import { resolve } from 'node:path'
import { realPathOf } from '../../files/real-path.ts'
import { readRegular } from '../../files/safe-read.ts'
import { AppError } from '../../model/app-error.ts'

/** About 10,000 issues with long comments; JavaScript strings cannot be much longer. */
const MAX_BYTES = 256 * 1024 * 1024

/** The bytes of a file; `-` is standard input. */
export async function inputOf(file: string): Promise<Uint8Array> {
  return file === '-' ? standardInput() : contentOf(file)
}

async function standardInput(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    size += bytes.byteLength
    if (size > MAX_BYTES) throw unread('standard input', 'it is larger than 256 MiB')
  }
  return Buffer.concat(chunks)
}

async function contentOf(file: string): Promise<Uint8Array> {
  const path = await realPathOf(resolve(file)) // the operator chose it, so links are followed
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (read.ok) return read.bytes
  const why = {
    missing: 'the file does not exist',
    symbolic_link: 'it is a broken link',
    not_a_file: 'it is not a regular file; - reads standard input',
    too_large: 'it is larger than 256 MiB',
    no_permission: 'its permissions do not allow it',
    io_error: `the disk failed (${read.detail})`,
  }[read.reason]
  throw unread(file, why)
}

function unread(what: string, why: string): AppError {
  const message = `Nothing was imported, because ${what} cannot be read: ${why}. You can import a long list in parts.`
  return new AppError('unreadable_file', message)
}
