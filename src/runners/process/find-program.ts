import { isAbsolute, join, resolve } from 'node:path'
import which from 'which'
import { codeOf } from '../../files/errno.ts'
import { stampOf } from '../../files/safe-read.ts'

export interface Whereabouts {
  /** As in PATH; without one, where the system looks by default. */
  path: string | undefined
  /** What a name with a slash starts from. */
  cwd: string
}

const DEFAULT_PATH = '/usr/bin:/bin'

/** The absolute path of a program that may be executed; null if there is none. */
export function findProgram(name: string, where: Whereabouts): Promise<string | null> {
  const files = candidates(name, where)
  return firstOf(files.map((file) => () => which(file, { nothrow: true })))
}

/** Why it was not found, as the system would say: `EACCES` where a file is there, else `ENOENT`. */
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
  // a relative entry would find a program of the working folder, which may be the repository's
  const folders = path.split(':').filter(isAbsolute)
  return folders.map((folder) => join(folder, name))
}

async function firstOf<T>(looks: readonly (() => Promise<T | null>)[]): Promise<T | null> {
  for (const look of looks) {
    const found = await look()
    if (found !== null) return found
  }
  return null
}
