/** Reads a project's instructions for agents (such as AGENTS.md) for the prompt of a session. */

import { realpath } from 'node:fs/promises'
import { dirname, extname, join, relative } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { isWithin } from '../files/real-path.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { searchTop } from './agent-files.ts'

/** A file with the project's instructions for agents. */
export interface ProjectInstructions {
  /** Relative to the working folder. */
  name: string
  /** Null if it is not readable text. */
  text: string | null
}

const MAX_BYTES = 1024 * 1024
const TEXTS: ReadonlySet<string> = new Set(['.md', '.mdc', '.txt'])

/**
 * Reads a project's instructions for agents: the first existing file of each group of names, in every folder from the
 * top of the repository to the working folder. Links are followed only inside the repository and only to text files,
 * so that no `.env` or `.git/config` gets into a prompt. No file is read twice.
 */
export async function readProjectInstructions(
  { root, folder }: { root: string; folder: string },
  groups: readonly (readonly string[])[],
): Promise<ProjectInstructions[]> {
  if (groups.length === 0) return []
  const top = await searchTop(root, folder)
  const seen = new Set<string>()
  const found: ProjectInstructions[] = []
  for (const each of foldersBetween(top, folder)) {
    for (const names of groups) {
      const place = await firstPlace(each, names, top)
      if (place === null || seen.has(place.real)) continue
      seen.add(place.real)
      found.push({ name: relative(folder, place.path), text: await readText(place.real, top) })
    }
  }
  return found
}

/** The top first. */
function foldersBetween(top: string, folder: string): string[] {
  const folders = [folder]
  while (folders[0] !== top && folders[0] !== dirname(folders[0]!)) {
    folders.unshift(dirname(folders[0]!))
  }
  return folders
}

async function firstPlace(
  folder: string,
  names: readonly string[],
  top: string,
): Promise<{ path: string; real: string } | null> {
  for (const name of names) {
    const path = join(folder, name)
    const real = await realPath(path)
    if (real !== null && isWithin(top, real) && TEXTS.has(extname(real))) return { path, real }
  }
  return null
}

async function realPath(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return null
    throw error
  }
}

async function readText(path: string, top: string): Promise<string | null> {
  const read = await readRegular(path, { maxBytes: MAX_BYTES, within: top })
  const text = read.ok ? decodeUtf8(read.bytes) : null
  return text?.ok ? text.text : null
}
