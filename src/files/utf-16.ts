/**
 * The name by which `iconv` takes text that looks like UTF-16; null where it does not. With a byte order mark that
 * is sure. Without one it is seen by the first two characters, where they are ASCII: such text is UTF-8 too, with a
 * NUL for every second character.
 */
export function utf16Name([a, b, c, d]: Uint8Array): 'UTF-16' | 'UTF-16LE' | 'UTF-16BE' | null {
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return 'UTF-16'
  if (a && b === 0 && c && d === 0) return 'UTF-16LE'
  if (a === 0 && b && c === 0 && d) return 'UTF-16BE'
  return null
}
