/** Resolves symbolic links, and answers whether one path lies in another. */

import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { hasCode } from './errno.ts'

/** Resolves all links of a path that need not exist: the real path of its nearest existing ancestor, and the rest. */
export async function realPathOf(path: string): Promise<string> {
  const { real, rest } = await nearestExisting(path)
  return join(real, rest)
}

/**
 * As `realPathOf`, but links to what does not exist are followed, too: a write through one makes it. Throws ELOOP after
 * 40 of them.
 */
export async function targetOf(path: string): Promise<string> {
  let at = path
  for (let links = 0; links < MAX_LINKS; links++) {
    const { real, rest } = await nearestExisting(at)
    const [first = '', ...others] = rest.split(sep)
    const target = first === '' ? null : await readlink(join(real, first)).catch(ifNoLink)
    if (target === null) return join(real, rest)
    at = join(resolve(real, target), ...others)
  }
  throw Object.assign(new Error(`ELOOP: too many symbolic links, '${path}'`), { code: 'ELOOP' })
}

const MAX_LINKS = 40

function ifNoLink(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'EINVAL')) return null
  throw error
}

/** As `targetOf`, but `..` is the folder above where a link leads, as for the system. `folder` is a real path. */
export async function targetAlong(path: string, folder: string): Promise<string> {
  let at = isAbsolute(path) ? '/' : folder
  for (const name of path.split('/')) {
    at = name === '..' ? dirname(await targetOf(at)) : join(at, name)
  }
  return targetOf(at)
}

/** Returns the real path of the nearest existing ancestor (or of the path itself), and what remains. */
export async function nearestExisting(path: string): Promise<{ real: string; rest: string }> {
  let ancestor = resolve(path)
  let rest = ''
  for (;;) {
    try {
      return { real: await realpath(ancestor), rest }
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || ancestor === dirname(ancestor)) throw error
      rest = join(basename(ancestor), rest)
      ancestor = dirname(ancestor)
    }
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
