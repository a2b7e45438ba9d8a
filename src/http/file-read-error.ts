import type { Refused } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'

/** Why a memory file is not read, nor written over. */
export function fileReadError(filename: string, { reason, detail }: Refused): AppError {
  if (reason === 'missing') {
    return new AppError('not_found', `There is no memory file ${filename}, until one is written.`)
  }
  if (reason === 'io_error') {
    return new AppError(
      'storage_failed',
      `${filename} was not read or written: the storage failed (${detail}). Check the disk, then try again.`,
    )
  }
  const why = {
    symbolic_link: 'it is a symbolic link, which is not followed',
    not_a_file: 'it is no regular file',
    too_large: 'it is over 10 MiB',
    no_permission: 'its permissions do not allow it',
  }[reason]
  return new AppError(
    'unreadable_file',
    `${filename} is not read or written: ${why}. Put a plain file in its place.`,
  )
}
