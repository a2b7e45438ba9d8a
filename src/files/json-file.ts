import { readFile } from 'node:fs/promises'
import { hasCode } from './errno.ts'

/** Reads a JSON file of another program; null if it is missing, unreadable, or not JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES') || error instanceof SyntaxError) return null
    throw error
  }
}
