import { createHash } from 'node:crypto'
import { hasCode } from '../../../files/errno.ts'
import { realPathOf } from '../../../files/real-path.ts'
import { decodeUtf8, readRegular } from '../../../files/safe-read.ts'
import { AppError } from '../../../model/app-error.ts'

const MAX_BYTES = 4 * 1024 * 1024

/** Follows symbolic links on purpose: many people keep their settings in a repository, and link to them. */
export async function readSettings(
  path: string,
): Promise<{ realPath: string; text: string | null }> {
  const realPath = await realPathIn(path)
  const read = await readRegular(realPath, { maxBytes: MAX_BYTES })
  if (!read.ok && read.reason === 'missing') return { realPath, text: null }
  const decoded = read.ok ? decodeUtf8(read.bytes) : null
  if (decoded?.ok) return { realPath, text: decoded.text }
  const why = read.ok
    ? 'it is not UTF-8'
    : read.reason === 'symbolic_link'
      ? 'it is a symbolic link to nothing'
      : read.detail
  throw unchangeable(path, why)
}

async function realPathIn(path: string): Promise<string> {
  try {
    return await realPathOf(path)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) throw unchangeable(path, 'a part of its path is not a folder')
    if (hasCode(error, 'ELOOP')) throw unchangeable(path, 'a symbolic link leads back to itself')
    if (hasCode(error, 'EACCES'))
      throw unchangeable(path, 'there is no permission to open its folder')
    throw error
  }
}

function unchangeable(path: string, why: string): AppError {
  return new AppError('unreadable_file', `${path} cannot be changed: ${why}. Nothing was written.`)
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
