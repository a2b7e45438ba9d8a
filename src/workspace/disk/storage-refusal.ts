import { basename } from 'node:path'
import { Refusal } from '../../model/refusal.ts'
import { codeOf, hasCode } from './errno.ts'

/**
 * The refusal for an error of the disk that came outside of any one write: while it was looked at, or in what
 * follows a write; null where it is no such error. What was asked may be done by then, or not.
 */
export function diskRefusal(error: unknown): Refusal | null {
  const isFull = hasCode(error, 'ENOSPC', 'EDQUOT')
  if (!isFull && !hasCode(error, 'EIO', 'EROFS', 'ESTALE')) return null
  const what = isFull ? 'The storage is full' : 'The storage failed'
  const remedy = isFull ? 'Free space' : 'Check the disk'
  const message = `${what} (${codeOf(error)}) before the request was carried out to its end. ${remedy}, look at what was done of it, then try again.`
  return new Refusal(isFull ? 'storage_full' : 'storage_failed', message, { cause: error })
}

/** The refusal for what a full, failing or vanishing disk says; any other error comes back as it is. */
export function storageRefusal(error: unknown, path: string): unknown {
  const name = basename(path)
  if (hasCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')) {
    const message = `The change to ${name} was not saved: the storage is full (${codeOf(error)}). Free space, then try again.`
    return new Refusal('storage_full', message, { cause: error })
  }
  if (hasCode(error, 'EROFS', 'EACCES', 'EPERM', 'EIO')) {
    const message = `The change to ${name} was not saved: the storage refused it (${codeOf(error)}). Check its permissions and the disk, then try again.`
    return new Refusal('storage_failed', message, { cause: error })
  }
  if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) {
    const message = `The change to ${name} was not saved: its folder was moved away meanwhile (${codeOf(error)}). Look again, then repeat the change.`
    return new Refusal('changed_meanwhile', message, { cause: error })
  }
  return error
}
