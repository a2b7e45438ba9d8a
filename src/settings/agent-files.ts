/**
 * Finds project files that start programs automatically (hooks, servers). The operator must trust them before an
 * agent runs there.
 */

import type { Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { hashOf } from '../files/decoded.ts'
import { codeOf, hasCode } from '../files/errno.ts'
import { isWithin } from '../files/real-path.ts'
import { readRegular } from '../files/safe-read.ts'

/** A project file that an agent acts on without asking: a hook, a server to start, an address. */
export interface AgentFile {
  /** Absolute path. Links are not resolved: the agent follows them too. */
  path: string
  /** Null if unreadable; `why` is the reason. */
  content: { bytes: Buffer; sha256: string } | null
  why: string
}

/** SHA-256 of what the operator trusts, by path. */
export type TrustedFiles = ReadonlyMap<string, string>

const MAX_BYTES = 4 * 1024 * 1024
const MAX_FILES = 500
const MAX_DEPTH = 12
/** Node's replacement for invalid bytes in a name; an agent in another language can open such a file. */
const NOT_UTF8 = '\uFFFD'

/**
 * Finds files with these names in a folder and its parents up to `top`, where agents stop. A name that ends in `/` is
 * a folder whose files all count. Links are followed, as agents follow them. Sorted by path.
 */
export async function findAgentFiles(
  folder: string,
  top: string,
  names: readonly string[],
): Promise<AgentFile[]> {
  if (names.length === 0) return []
  const found = new Map<string, AgentFile>()
  const home = await realHome()
  for (let each = folder; ; each = dirname(each)) {
    // in the home folder these are the user's own settings
    if (each !== home) for (const name of names) await collect(join(each, name), name, found)
    if (each === top || each === dirname(each)) break
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Where the search ends: the repository of the workspace, or a folder outside of it. */
export async function searchTop(root: string, folder: string): Promise<string> {
  const start = isWithin(root, folder) ? root : folder
  for (let each = start; ; each = dirname(each)) {
    if ((await statOf(join(each, '.git'))) !== null) return each
    if (each === dirname(each)) return start
  }
}

export function isTrustedFile({ path, content }: AgentFile, trusted: TrustedFiles): boolean {
  return content !== null && trusted.get(path) === content.sha256
}

async function collect(path: string, name: string, found: Map<string, AgentFile>): Promise<void> {
  const wanted = name.endsWith('/')
  const stats = await statOf(path)
  if (stats === null) return
  if (stats === 'unreadable') found.set(path, unreadable(path, 'it cannot be looked at'))
  else if (wanted && stats.isDirectory()) await collectBelow(path.replace(/\/$/, ''), found, 0)
  else if (!wanted && !stats.isDirectory()) found.set(path, await readFile(path))
}

async function collectBelow(
  folder: string,
  found: Map<string, AgentFile>,
  depth: number,
): Promise<void> {
  if (depth > MAX_DEPTH) {
    found.set(folder, unreadable(folder, `it is more than ${MAX_DEPTH} folders deep`))
    return
  }
  for (const name of await namesIn(folder, found)) {
    const path = join(folder, name)
    const stats = await statOf(path)
    if (stats === null && !name.includes(NOT_UTF8)) continue
    if (found.size >= MAX_FILES) {
      found.set(folder, unreadable(folder, `there are more than ${MAX_FILES} files`))
      return
    }
    if (stats === null) found.set(path, unreadable(path, 'its name is not UTF-8'))
    else if (stats === 'unreadable') found.set(path, unreadable(path, 'it cannot be looked at'))
    else if (stats.isDirectory()) await collectBelow(path, found, depth + 1)
    else found.set(path, await readFile(path))
  }
}

async function namesIn(folder: string, found: Map<string, AgentFile>): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    if (!hasCode(error, 'EACCES', 'EPERM', 'EIO')) throw error
    found.set(folder, unreadable(folder, `${codeOf(error)} when reading the folder`))
    return []
  }
}

async function readFile(path: string): Promise<AgentFile> {
  try {
    const read = await readRegular(await realpath(path), { maxBytes: MAX_BYTES })
    if (!read.ok) return unreadable(path, read.detail)
    return { path, content: { bytes: read.bytes, sha256: hashOf(read.bytes) }, why: '' }
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) throw error
    return unreadable(path, `${codeOf(error)} when reading it`)
  }
}

function unreadable(path: string, why: string): AgentFile {
  return { path, content: null, why }
}

/** Null if nothing exists, also for a broken link. */
async function statOf(path: string): Promise<Stats | 'unreadable' | null> {
  try {
    return await stat(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    if (hasCode(error, 'EACCES', 'ELOOP', 'ENAMETOOLONG', 'EIO')) return 'unreadable'
    throw error
  }
}

async function realHome(): Promise<string> {
  try {
    return await realpath(homedir())
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return homedir()
    throw error
  }
}
