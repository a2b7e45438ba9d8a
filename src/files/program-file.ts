/** Identifies an executable, to detect updates. */

import { realpath, stat } from 'node:fs/promises'

/** The real path of a program. */
export const realProgram = (path: string): Promise<string> => realpath(path)

/** A string that changes when the program at a path is updated or replaced. */
export async function programStamp(path: string): Promise<string> {
  const real = await realProgram(path)
  const { size, mtimeMs } = await stat(real)
  return [real, size, mtimeMs].join(' ')
}
