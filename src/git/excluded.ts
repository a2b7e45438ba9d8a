/** Converts excluded paths to git's form. */

import { join, relative } from 'node:path'
import { isWithin, realPathOf } from '../files/real-path.ts'
import type { GitRepository } from './repository.ts'

/** Returns paths relative to the top; null if the working folder itself is excluded. */
export async function excludedPaths(
  { top, prefix }: Pick<GitRepository, 'top' | 'prefix'>,
  absolute: string[],
): Promise<string[] | null> {
  const workdir = join(top, prefix)
  const paths: string[] = []
  for (const path of absolute) {
    const real = await realPathOf(path)
    if (isWithin(real, workdir)) return null
    if (isWithin(workdir, real)) paths.push(relative(top, real))
  }
  return paths
}
