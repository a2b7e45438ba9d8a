/** Identifies an executable, to see when it was updated. */

import { realpath, stat } from 'node:fs/promises'

/** Where the links of a program lead. */
export const realProgram = (path: string): Promise<string> => realpath(path)

/** Changes with the program that a path leads to, by whatever links: when it is updated, or another one. */
export async function programStamp(path: string): Promise<string> {
  const real = await realProgram(path)
  const { size, mtimeMs } = await stat(real)
  return [real, size, mtimeMs].join(' ')
}
