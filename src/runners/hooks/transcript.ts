import { readRegular } from '../../files/safe-read.ts'

/** A conversation of days is far below this. */
const MAX_BYTES = 256 * 1024 * 1024

/** The parsed lines of an agent's own transcript that contain a text; empty if there is none. */
export async function linesWith(path: string | null, text: string): Promise<unknown[]> {
  if (path === null) return []
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (!read.ok) return []
  const lines = read.bytes.toString().split('\n')
  return lines.filter((line) => line.includes(text)).map(parsed)
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null // the last line may be half written
  }
}
