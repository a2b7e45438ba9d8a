import { resolve } from 'node:path'
import { realPathOf } from '../../files/real-path.ts'
import { readRegular } from '../../files/safe-read.ts'
import { Refusal } from '../../model/refusal.ts'

/** Some 10,000 issues with long comments; more is no text that JavaScript can hold. */
const MAX_BYTES = 256 * 1024 * 1024

/** What a file says that the operator names; `-` is standard input. */
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
  const path = await realPathOf(resolve(file)) // the operator's own choice: a link is followed
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (read.ok) return read.bytes
  const why = {
    missing: 'the file is not there',
    symbolic_link: 'it is a link that leads nowhere',
    not_a_file: 'it is no regular file; - reads standard input',
    too_large: 'it is larger than 256 MiB',
    no_permission: 'its permissions do not allow it',
    io_error: `the disk failed (${read.detail})`,
  }[read.reason]
  throw unread(file, why)
}

function unread(what: string, why: string): Refusal {
  const message = `Nothing was imported, as ${what} cannot be read: ${why}. A long list can be imported in parts.`
  return new Refusal('unreadable_file', message)
}
