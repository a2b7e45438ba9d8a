import { lstat, readdir } from 'node:fs/promises'
import { SESSION_FILE, UUID } from '../model/words.ts'
import { hasCode } from './errno.ts'

/** Whether a folder, not a link to one, is there. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

/** Names in a folder; none where it is missing, no folder, or a link that leads elsewhere. */
export async function entriesIn(folder: string): Promise<string[]> {
  if (!(await isFolder(folder))) return []
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}

/** The numbers of the session files in a folder, smallest first. */
export async function numbersIn(folder: string): Promise<number[]> {
  const names = await entriesIn(folder)
  const numbers = names.flatMap((name) => SESSION_FILE.exec(name)?.[1] ?? [])
  return numbers.map(Number).sort((a, b) => a - b)
}

/** The ids of the proof files in a folder. */
export async function proofsIn(folder: string): Promise<string[]> {
  const names = await entriesIn(folder)
  return names.flatMap((name) =>
    name.endsWith('.md') && UUID.test(name.slice(0, -3)) ? [name.slice(0, -3)] : [],
  )
}
