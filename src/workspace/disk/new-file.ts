import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  type Stats,
} from 'node:fs'
import { type FileHandle, unlink } from 'node:fs/promises'
import { syncDescriptor, writeDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'

/**
 * Makes a file that is not there yet (else EEXIST) and syncs its content, not its folder; on failure
 * it is removed again. It gets the owner and mode of `like`; `mode` overrides that and the umask.
 * Only what may take long, the sync and the writing of much, waits in the thread pool.
 */
export async function writeNewFile(
  path: string,
  bytes: Uint8Array,
  options: { mode?: number | undefined; like?: Stats | null },
): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
  const fd = openSync(path, flags, options.like ? 0o600 : 0o666)
  try {
    try {
      await writeDescriptor(fd, bytes)
      if (options.like) takeOwner(fd, options.like)
      const mode = options.mode ?? options.like?.mode
      if (mode !== undefined) fchmodSync(fd, mode & 0o7777)
      // Not to be tried again when it fails: the kernel may have dropped the pages by then.
      await syncDescriptor(fd)
      mustHaveSize(fd, bytes.length)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    await discard(path)
    throw error
  }
}

/** Removes what a failed write left, if it still can. */
export async function discard(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    // Missing: it was never made or has its name already. Else the next owner removes it at start.
    if (!hasCode(error, 'ENOENT', 'EROFS', 'EACCES', 'EPERM', 'EIO')) throw error
  }
}

/** One call may write less than it was given, which is how a nearly full disk looks. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position = 0): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(
      bytes,
      written,
      bytes.length - written,
      position + written,
    )
    written += bytesWritten
  }
}

/** So that a service started by root does not take a user's files away from him. */
function takeOwner(fd: number, { uid, gid }: Stats): void {
  const ours = fstatSync(fd)
  if (ours.uid === uid && ours.gid === gid) return
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL')) throw error
  }
}

function mustHaveSize(fd: number, expected: number): void {
  const { size } = fstatSync(fd)
  if (size === expected) return
  throw Object.assign(new Error(`${size} of ${expected} bytes arrived`), { code: 'EIO' })
}
