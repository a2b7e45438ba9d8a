import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The size of `sun_path`, see unix(7). */
const ABSTRACT_BYTES = 108

/**
 * Returns the socket address of a key. The kernel frees Linux and Windows names with the process; elsewhere a file
 * remains, which must be removed if no process listens on it. Trap: Node 20 pads an abstract name with NULs to
 * its full size and Node 22 does not, so that they would not collide; a full-length name is the same for both.
 */
export function socketAddress(key: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'linux') return `\0casefile-${key}`.padEnd(ABSTRACT_BYTES, '\0')
  if (platform === 'win32') return `\\\\.\\pipe\\casefile-${key}`
  return join(tmpdir(), `casefile-${key}.sock`)
}

/** Whether the address is a file, which stays when its process dies. */
export function isSocketFile(address: string): boolean {
  return !address.startsWith('\0') && !address.startsWith('\\\\')
}
