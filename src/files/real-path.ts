/** Resolves symbolic links, and answers whether one path lies in another. */

import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { hasCode } from './errno.ts'

/** Resolves all links of a path that need not exist: the real path of its nearest existing ancestor, and the rest. */
export async function realPathOf(path: string): Promise<string> {
  const { real, rest } = await nearestExisting(path)
  return join(real, rest)
}

/** As `realPathOf`, but `..` is the folder above where a link leads, as for the system. `folder` is a real path. */
export async function realPathAlong(path: string, folder: string): Promise<string> {
  let at = isAbsolute(path) ? '/' : folder
  for (const name of path.split('/')) {
    at = name === '..' ? dirname(await realPathOf(at)) : join(at, name)
  }
  return realPathOf(at)
}

const MAX_LINKS = 40

/**
 * Returns the real path of the nearest existing ancestor (or of the path itself), and what remains. Links to what does not
 * exist are followed, too: a write through them makes it.
 */
export async function nearestExisting(path: string): Promise<{ real: string; rest: string }> {
  let ancestor = resolve(path)
  let rest = ''
  for (let links = 0; ; ) {
    try {
      return { real: await realpath(ancestor), rest }
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || ancestor === dirname(ancestor)) throw error
      const target = await linkTarget(ancestor)
      if (target !== null && ++links > MAX_LINKS) throw error
      if (target === null) rest = join(basename(ancestor), rest)
      ancestor = target ?? dirname(ancestor)
    }
  }
}

/** Where a link leads, which need not exist; null if the path is none. */
async function linkTarget(path: string): Promise<string | null> {
  try {
    const target = await readlink(path)
    return resolve(await realpath(dirname(path)), target)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EINVAL')) return null
    throw error
  }
}

/** Whether `path` is `folder` or inside it. The caller has resolved links in both. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Returns the real paths of existing ones, each once. */
export async function existingPaths(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(realPathIfAny))
  return [...new Set(found.filter((path) => path !== null))]
}

async function realPathIfAny(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}
