import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { hasCode } from './errno.ts'

/**
 * Makes a file that is not there yet (else EEXIST) and syncs its content, not its folder; on failure
 * it is removed again. It gets the owner and mode of `like`; `mode` overrides that and the umask.
 */
export async function writeNewFile(
  path: string,
  bytes: Uint8Array,
  options: { mode?: number | undefined; like?: Stats | null },
): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
  const handle = await open(path, flags, options.like ? 0o600 : 0o666)
  try {
    try {
      await writeAll(handle, bytes)
      if (options.like) await takeOwner(handle, options.like)
      const mode = options.mode ?? options.like?.mode
      if (mode !== undefined) await handle.chmod(mode & 0o7777)
      // Not to be tried again when it fails: the kernel may have dropped the pages by then.
      await handle.sync()
      await mustHaveSize(handle, bytes.length)
    } finally {
      await handle.close()
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
async function takeOwner(handle: FileHandle, { uid, gid }: Stats): Promise<void> {
  const ours = await handle.stat()
  if (ours.uid === uid && ours.gid === gid) return
  try {
    await handle.chown(uid, gid)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL')) throw error
  }
}

async function mustHaveSize(handle: FileHandle, expected: number): Promise<void> {
  const { size } = await handle.stat()
  if (size === expected) return
  throw Object.assign(new Error(`${size} of ${expected} bytes arrived`), { code: 'EIO' })
}
