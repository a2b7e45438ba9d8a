import { statSync } from 'node:fs'

/** Of what is written, beside the program itself. */
const FORMAT = 2

/**
 * The first line of what is kept. Values are those of one program, as it was built: another may read the same files
 * otherwise.
 */
export function keptTitle(memoryRoot: string, version: string): string {
  const { mtimeMs = 0 } = statSync(process.argv[1] ?? '', { throwIfNoEntry: false }) ?? {}
  return JSON.stringify(['casefile', FORMAT, version, mtimeMs, memoryRoot])
}
