import { isAbsolute, join, resolve } from 'node:path'
import which from 'which'
import { codeOf } from '../../files/errno.ts'
import { stampOf } from '../../files/safe-read.ts'
import { isOfRun } from '../../files/service-program.ts'

export interface Whereabouts {
  /** The value of PATH; if undefined, the system's default folders. */
  path: string | undefined
  /** The folder that a relative program path starts from. */
  cwd: string
}

const DEFAULT_PATH = '/usr/bin:/bin'

/** The absolute path of an executable program; null if there is none. */
export function findProgram(name: string, where: Whereabouts): Promise<string | null> {
  const files = candidates(name, where)
  return firstOf(files.map((file) => () => which(file, { nothrow: true })))
}

/** The error code the system would report: `EACCES` if a file exists but is not executable, else `ENOENT`. */
export async function whyNotFound(name: string, where: Whereabouts): Promise<string> {
  try {
    const files = candidates(name, where)
    return (await firstOf(files.map((file) => () => stampOf(file)))) ? 'EACCES' : 'ENOENT'
  } catch (error) {
    const code = codeOf(error)
    if (code === '') throw error
    return code
  }
}

function candidates(name: string, { path = DEFAULT_PATH, cwd }: Whereabouts): string[] {
  if (name.includes('/')) return [resolve(cwd, name)]
  // a relative entry would find programs in the working folder, which may come with a repository
  const folders = path.split(':').filter((folder) => isAbsolute(folder) && !isOfRun(folder, true))
  return folders.map((folder) => join(folder, name))
}

async function firstOf<T>(looks: readonly (() => Promise<T | null>)[]): Promise<T | null> {
  for (const look of looks) {
    const found = await look()
    if (found !== null) return found
  }
  return null
}
