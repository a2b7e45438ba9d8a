/**
 * Durable writes: temporary file, fsync, rename, fsync of the folder. After a crash or on a full disk a file has its
 * old bytes or its new ones. `storage-error.ts` turns disk errors into API errors.
 */

import { mkdirSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { hasCode } from './errno.ts'
import { confirmChange } from './failing-folders.ts'
import { discard, writeNewFile } from './new-file.ts'
import { pinFolder } from './pinned-folder.ts'
import {
  type ReplaceOptions,
  type StagedFile,
  type StageOptions,
  stageNew,
  stageReplacement,
} from './staged-file.ts'
import { storageError } from './storage-error.ts'
import { tempName } from './temp-files.ts'

/**
 * Replaces a file atomically and durably: after any crash it is completely old or completely new, and it is new once
 * this resolves. The new file has another inode: hard links, ACLs and extended attributes are lost; the mode stays,
 * and so does the owner if allowed. If only the last step, the sync of the folder, fails, this resolves (see
 * `confirmChange`).
 *
 * Throws `unreadable_file` for anything but a regular file, `changed_meanwhile` if the file is not `expect`,
 * `storage_full` and `storage_failed`.
 */
export async function writeDurable(
  path: string,
  bytes: Uint8Array,
  options: ReplaceOptions = {},
): Promise<void> {
  await finish(await stageReplacement(path, bytes, options))
}

/** Creates a file atomically; throws `already_exists`. */
export async function createDurable(
  path: string,
  bytes: Uint8Array,
  options: StageOptions = {},
): Promise<void> {
  await finish(await stageNew(path, bytes, options))
}

/** Replaces a file atomically, without a sync: for what means nothing after a crash of the machine. */
export async function writeVolatile(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const temp = tempName(path)
  try {
    await writeNewFile(temp, bytes, { mode, isVolatile: true })
    renameSync(temp, path)
  } catch (error) {
    await discard(temp)
    throw storageError(error, path)
  }
}

async function finish(file: StagedFile): Promise<void> {
  try {
    await file.place()
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * `mkdir -p` that survives a power cut: it syncs the parent of each new folder. Does not use Node's `recursive`,
 * which reports a read-only file system as ENOENT.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const folder = resolve(path)
  try {
    await mkdirBelow(folder, mode)
    await confirmFolder(dirname(folder))
  } catch (error) {
    if (!hasCode(error, 'EEXIST', 'EISDIR', 'ENOTDIR')) throw storageError(error, path)
    if (isFolder(folder)) return
    throw new AppError(
      'unreadable_file',
      `The folder ${basename(path)} cannot be made: a file is in its place. Move that file away.`,
      { cause: error },
    )
  }
}

/** `syncFolder` once the change is made: see `confirmChange`. */
export function confirmFolder(path: string): Promise<void> {
  return confirmChange(path, () => syncFolder(path))
}

/** Syncs a folder, so that renames, new names and removals in it survive a crash. */
export async function syncFolder(path: string): Promise<void> {
  const folder = pinFolder(path)
  try {
    await folder.sync()
  } finally {
    folder.close()
  }
}

async function mkdirBelow(folder: string, mode: number): Promise<void> {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || folder === dirname(folder)) throw error
    await makeFolder(dirname(folder), mode)
    mkdirSync(folder, { mode })
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return false
    throw error
  }
}
