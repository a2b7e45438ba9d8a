import { mkdir, readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../files/errno.ts'
import type { SandboxView } from '../process/sandbox-plan.ts'

const DEVICES = '/dev'
/** File systems for terminals, shared memory and message queues. */
const FOLDERS = ['pts', 'shm', 'mqueue']
const READ_WRITE_BY_ALL = 0o006

/**
 * Fills an empty folder with places for the devices that every user may use, and returns the views that show them there,
 * and the folder as `/dev`. Root could otherwise write to disks, whatever is mounted read-only.
 */
export async function makeDeviceFolder(folder: string): Promise<SandboxView[]> {
  const views: SandboxView[] = []
  for (const entry of await readdir(DEVICES, { withFileTypes: true })) {
    const { name } = entry
    const [at, shows] = [join(folder, name), join(DEVICES, name)]
    // the one of the terminals in sight, which a separate mount could not find
    if (name === 'ptmx') await symlink('pts/ptmx', at)
    else if (entry.isSymbolicLink()) await symlink(await readlink(shows), at)
    else if (entry.isDirectory() && FOLDERS.includes(name)) await mkdir(at)
    else if (entry.isCharacterDevice() && (await isForAll(shows))) await writeFile(at, '')
    else continue
    if (!entry.isSymbolicLink() && name !== 'ptmx') views.push({ at, shows })
  }
  return [...views, { at: DEVICES, shows: folder }]
}

async function isForAll(path: string): Promise<boolean> {
  try {
    return ((await stat(path)).mode & READ_WRITE_BY_ALL) === READ_WRITE_BY_ALL
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
