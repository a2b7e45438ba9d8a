export interface Location {
  file: string
  line: number
}

/** A long stack trace names the location near its beginning. */
const MAX_STACK = 32 * 1024

const PYTHON = /\bFile "([^"\n]{1,500})", line (\d{1,9})/
/** Matches `a.ts:12`, `a.ts:12:5`, `(Login.java:42)`, `Login.cs:line 12`, optionally with a Windows drive. */
const PLACE =
  /(?:file:\/\/)?((?:[A-Za-z]:[\\/])?[^\s:()'"<>[\]]{1,500}\.[A-Za-z]{1,6}):(?:line )?(\d{1,9})\b/

/** Code of runtimes and test libraries, which is at the end of every stack trace. */
const FOREIGN =
  /node:|node_modules|\bjava\.|\bjdk\.|\bsun\.|org\.junit|org\.opentest4j|org\.apache\.maven|\/src\/(?:runtime|testing)\/|site-packages|\bhttps?:/

/**
 * The first location in a stack trace or message that is not in a runtime or test library. `wanted` is the file
 * that the report names for the test; its lines are preferred.
 */
export function findLocation(text: string, wanted: string | null = null): Location | null {
  let first: Location | null = null
  for (const line of text.slice(0, MAX_STACK).split('\n')) {
    const match = FOREIGN.test(line) ? null : (PYTHON.exec(line) ?? PLACE.exec(line))
    if (!match) continue
    const found = { file: match[1]!, line: Number(match[2]) }
    if (wanted === null || isSameFile(found.file, wanted)) return found
    first ??= found
  }
  return wanted === null ? first : null
}

/** Compares two paths, one of which may be relative to another folder. */
function isSameFile(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return long.endsWith(short.replace(/^\.\//, ''))
}
