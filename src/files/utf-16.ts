/**
 * Returns iconv's name of the encoding if text looks like UTF-16, else null. A byte order mark is certain. Without
 * one, the first two characters decide if they are ASCII: such text is valid UTF-8 too, with a NUL as every second
 * character.
 */
export function utf16Name([a, b, c, d]: Uint8Array): 'UTF-16' | 'UTF-16LE' | 'UTF-16BE' | null {
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return 'UTF-16'
  if (a && b === 0 && c && d === 0) return 'UTF-16LE'
  if (a === 0 && b && c === 0 && d) return 'UTF-16BE'
  return null
}
