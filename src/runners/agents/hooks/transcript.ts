import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { isWithin } from '../../../files/real-path.ts'
import { readRegular } from '../../../files/safe-read.ts'
import { parsedJson } from '../unknown-record.ts'

/** A conversation of days is far below this. */
const MAX_BYTES = 256 * 1024 * 1024

/** The parsed lines of an agent's own transcript that contain a text; empty if there is none. */
export async function linesWith(path: string | null, text: string): Promise<unknown[]> {
  if (path === null) return []
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (!read.ok) return []
  const lines = read.bytes.toString().split('\n')
  // the last line may be half written
  return lines.filter((line) => line.includes(text)).map(parsedJson)
}

/** Which transcript it is, without its content; null if it cannot be read. */
export async function transcriptMark(
  path: string,
): Promise<{ path: string; sha256: string } | null> {
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (!read.ok) return null
  return { path: fromHome(path), sha256: createHash('sha256').update(read.bytes).digest('hex') }
}

/** A path with `~` for the user's home folder, whose name is in no record then. */
export function fromHome(path: string): string {
  const home = homedir()
  return isWithin(home, path) ? `~${path.slice(home.length)}` : path
}
