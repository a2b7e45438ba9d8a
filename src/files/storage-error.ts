/**
 * Turns disk errors into errors of the API. Full disk: `storage_full`; the file keeps its old
 * bytes, because `durable-write.ts` writes a new file first. Failing disk: `storage_failed`. Moved
 * folder: `changed_meanwhile`.
 */

import { basename, dirname } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { codeOf, hasCode } from './errno.ts'
import { noteFailing } from './failing-folders.ts'

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG']
/** What disks report, also those of a network, removed ones, and those that forbid a call. */
const FAILED = [
  ...['EIO', 'EROFS', 'ESTALE', 'EUCLEAN', 'EBUSY', 'EMLINK', 'EACCES', 'EPERM'],
  ...['ENOTCONN', 'ETIMEDOUT', 'EHOSTDOWN', 'EREMOTEIO', 'ENODEV', 'ENXIO', 'EXDEV', 'EINVAL'],
  ...['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENODATA', 'EBADMSG'],
]
/** The disk works, but the process or machine has temporarily run out of a resource. */
const SHORT = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']

export function isShort(error: unknown): boolean {
  return hasCode(error, ...SHORT)
}

/**
 * Returns the API error for a disk that failed outside a single write: while reading, or after the write. Null for
 * other errors. The request may or may not have taken effect.
 */
export function diskError(error: unknown): AppError | null {
  const isFull = hasCode(error, ...FULL)
  const isScarce = isShort(error)
  if (!isFull && !isScarce && !hasCode(error, ...FAILED)) return null
  const what = isFull ? 'The storage is full' : isScarce ? SHORT_OF : 'The storage failed'
  const remedy = isFull ? 'Free space' : isScarce ? 'Wait a little' : 'Check the disk'
  const message = `${what} (${codeOf(error)}) before the request was finished. ${remedy}, check what was changed, then try again.`
  return new AppError(isFull ? 'storage_full' : 'storage_failed', message, { cause: error })
}

const SHORT_OF = 'The system is short of memory or open files'

/**
 * Returns the API error for a write that failed because the disk is full, failing or missing; returns other errors
 * unchanged. The change was not made: what fails after it goes to `confirmChange`.
 */
export function storageError(error: unknown, path: string): unknown {
  const name = basename(path)
  if (hasCode(error, ...FULL, ...FAILED)) noteFailing(dirname(path), error)
  if (hasCode(error, ...FULL)) {
    const message = `The change to ${name} was not saved: the storage is full (${codeOf(error)}). Free space, then try again.`
    return new AppError('storage_full', message, { cause: error })
  }
  if (isShort(error)) {
    const message = `The change to ${name} was not saved: ${SHORT_OF.toLowerCase()} (${codeOf(error)}). Wait a little, then try again.`
    return new AppError('storage_failed', message, { cause: error })
  }
  if (hasCode(error, ...FAILED)) {
    const message = `The change to ${name} was not saved: the storage rejected it (${codeOf(error)}). Check its permissions and the disk, then try again.`
    return new AppError('storage_failed', message, { cause: error })
  }
  if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) {
    const message = `The change to ${name} was not saved: its folder was moved away (${codeOf(error)}). Check the folder, then repeat the change.`
    return new AppError('changed_meanwhile', message, { cause: error })
  }
  return error
}
