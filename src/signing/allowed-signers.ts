import { join } from 'node:path'
import { createDurable, writeDurable } from '../files/durable-write.ts'
import { readRegular } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import { ALLOWED_SIGNERS } from '../model/approval-statement.ts'

/**
 * Adds a line to `allowed_signers`, which it creates if necessary. Returns whether it had to write. Throws
 * `unreadable_file` if the file cannot be read.
 */
export async function addSigner(root: string, line: string): Promise<boolean> {
  const path = join(root, ALLOWED_SIGNERS)
  const read = await readRegular(path, { maxBytes: 1024 * 1024 })
  if (!read.ok) {
    if (read.reason !== 'missing') {
      throw new AppError('unreadable_file', `${ALLOWED_SIGNERS} cannot be read: ${read.detail}.`)
    }
    await createDurable(path, Buffer.from(`${line}\n`))
    return true
  }
  const text = read.bytes.toString('latin1')
  if (text.split(/\r?\n/).includes(line)) return false
  const separator = text === '' || text.endsWith('\n') ? '' : '\n'
  const more = Buffer.from(`${separator}${line}\n`)
  await writeDurable(path, Buffer.concat([read.bytes, more]), { expect: read.bytes })
  return true
}
