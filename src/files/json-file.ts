import { readFile } from 'node:fs/promises'
import { hasCode } from './errno.ts'

/** What a JSON file of another program says; null if there is none, if it may not be read, or is no JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES') || error instanceof SyntaxError) return null
    throw error
  }
}
