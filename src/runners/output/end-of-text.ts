/**
 * The end of a text: at most `maxBytes` bytes of UTF-8. It begins with a line if one begins in the first half, else
 * between characters.
 */
export function endOfText(text: string, maxBytes: number): { text: string; isCut: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return { text, isCut: false }
  let from = bytes.length - maxBytes
  const line = bytes.indexOf('\n', from - 1) + 1
  if (line > 0 && line - from <= maxBytes / 2) from = line
  while ((bytes[from]! & 0xc0) === 0x80) from++
  return { text: bytes.toString('utf8', from), isCut: true }
}
