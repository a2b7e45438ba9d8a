import { isAbsolute } from 'node:path'
import { isWithin } from '../../workspace/disk/path-within.ts'
import { realOf } from '../acp/named-path.ts'

/** Further words and variables by which an agent's own tools may write into a folder for files of no lasting value. */
export type AllowScratch = (folder: string) => {
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
}

/**
 * The folder of `TMPDIR`, without links; null where there is none, or where the working folder lies in it: then it
 * is where everything else lies too.
 */
export async function scratchFolder(
  { TMPDIR }: Readonly<Record<string, string>>,
  workdir: string,
): Promise<string | null> {
  if (!TMPDIR || !isAbsolute(TMPDIR)) return null
  const real = await realOf(TMPDIR, '/')
  return real === null || isWithin(real, workdir) ? null : real
}
