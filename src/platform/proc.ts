/** The door to Linux's /proc, see proc(5). Nothing else reads it: without it, every question here has the answer "unknown". */

import { closeSync, opendirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

const PROC = '/proc'
/** `EINVAL` occurs for the mounts of a process that is just exiting. */
const BARRED = ['ENOENT', 'ENOTDIR', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL']

/** Whether this system shows its processes; false on macOS, Windows, and in a container without /proc. */
export const SHOWS_PROCESSES = readProc('self/stat') !== null

/** Whether an open file can be reached here by its descriptor, see `openFilePath`. */
export const SHOWS_OPEN_FILES = procEntries('self/fd') !== null

/** The text of a file; null if it is not shown. */
export function readProc(path: string): string | null {
  return unlessBarred(() => readFileSync(`${PROC}/${path}`, 'utf8'))
}

/** The target of a link; null if it is not shown. */
export function readProcLink(path: string): string | null {
  return unlessBarred(() => readlinkSync(`${PROC}/${path}`))
}

/** The names in a folder; null if it is not shown. */
export function procEntries(path: string): string[] | null {
  return unlessBarred(() => readdirSync(`${PROC}/${path}`))
}

/**
 * The names in a folder, one after the other, which does not block for long if somebody stops early; null if it is not
 * shown.
 */
export function openProcFolder(path: string): Generator<string, void> | null {
  const folder = unlessBarred(() => opendirSync(`${PROC}/${path}`, { bufferSize: 512 }))
  return folder && namesOf(folder)
}

function* namesOf(folder: ReturnType<typeof opendirSync>): Generator<string, void> {
  try {
    for (;;) {
      const entry = unlessBarred(() => folder.readSync())
      if (entry === null) return // no more entries, or the process is gone
      yield entry.name
    }
  } finally {
    folder.closeSync()
  }
}

/**
 * A path that leads to a file or folder which this process has open, even if its name is reused; null where there is
 * none.
 */
export function openFilePath(descriptor: number): string | null {
  return SHOWS_OPEN_FILES ? `${PROC}/self/fd/${descriptor}` : null
}

/** A path that leads to the root folder of a process, with its mounts. */
export function rootPath(pid: number): string {
  return `${PROC}/${pid}/root`
}

/** Where the system shows its processes. */
export const PROC_FOLDER = PROC

/** Where an open file or folder is now, whatever links led to it; null where the system does not say. */
export function locateOpenFile(descriptor: number): string | null {
  return SHOWS_OPEN_FILES ? readProcLink(`self/fd/${descriptor}`) : null
}

/**
 * Closes what the parent of this process left open: programs of runs would inherit it. Node's own descriptors are
 * closed when a program starts.
 */
export function closeInherited(): void {
  for (const name of procEntries('self/fd') ?? []) {
    const flags = /^flags:\s+(\d+)/m.exec(readProc(`self/fdinfo/${name}`) ?? '')?.[1]
    const isInherited = flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
    if (Number(name) > 2 && isInherited) closeSync(Number(name))
  }
}

/** Not a constant of Node. */
const O_CLOEXEC = 0o2000000

/** Null if the process is gone or belongs to another user, and on systems without /proc. */
function unlessBarred<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== undefined && BARRED.includes(code)) return null
    throw error
  }
}
