export interface Location {
  file: string
  line: number
}

/** A long stack trace names the location near its beginning. */
const MAX_STACK = 32 * 1024

const PYTHON = /\bFile "([^"\n]{1,500})", line (\d{1,9})/
/** The number in `a.ts:12`, `a.ts:12:5`, `(Login.java:42)`, `Login.cs:line 12`. */
const NUMBER = /:(?:line )?(\d{1,9})\b/g
/** The file before it, optionally with a Windows drive. */
const FILE = /(?:file:\/\/)?((?:[A-Za-z]:[\\/])?[^\s:()'"<>[\]]{1,500}\.[A-Za-z]{1,6})$/
const MAX_FILE = 520

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
    const found = FOREIGN.test(line) ? null : locationIn(line)
    if (!found) continue
    if (wanted === null || isSameFile(found.file, wanted)) return found
    first ??= found
  }
  return wanted === null ? first : null
}

/** The number is sought first: a search for the file takes seconds in a long line without one. */
function locationIn(line: string): Location | null {
  const python = PYTHON.exec(line)
  if (python) return { file: python[1]!, line: Number(python[2]) }
  for (const { index, 1: number } of line.matchAll(NUMBER)) {
    const file = FILE.exec(line.slice(Math.max(0, index - MAX_FILE), index))
    if (file) return { file: file[1]!, line: Number(number) }
  }
  return null
}

/** Compares two paths, one of which may be relative to another folder. */
function isSameFile(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return long.endsWith(short.replace(/^\.\//, ''))
}
