import { relative } from 'node:path'
import { isWithin } from '../files/real-path.ts'

/** Relative to the workspace where it lies in it: an answer does not tell where that is. */
export function shownFolder(root: string, folder: string): string {
  return isWithin(root, folder) ? relative(root, folder) || '.' : folder
}
