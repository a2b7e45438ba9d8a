import { realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isWithin } from '../disk/path-within.ts'
import type { GitRepository } from './git-repository.ts'

/** Relative to the top, and null if the working folder itself is in one of them. */
export async function excludedPaths(
  { top, prefix }: GitRepository,
  absolute: string[],
): Promise<string[] | null> {
  const workdir = join(top, prefix)
  const paths: string[] = []
  for (const path of absolute) {
    const real = await realpathOfMissing(path)
    if (isWithin(real, workdir)) return null
    if (isWithin(workdir, real)) paths.push(relative(top, real))
  }
  return paths
}

/** As `realpath`, for a path of which only a folder above exists. */
async function realpathOfMissing(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return join(await realpathOfMissing(dirname(path)), basename(path))
  }
}
