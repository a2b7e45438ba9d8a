/**
 * The text, or its beginning and end with a line between them that says how much was cut and that `where` has all
 * of it. At most `maxBytes` bytes of UTF-8. Cuts at a line end if there is one in the half next to the cut, else
 * between characters.
 */
export function headAndTail(text: string, maxBytes: number, where: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  return excerpt({ head: bytes, tail: bytes, size: bytes.length }, maxBytes, where, decoded)
}

export interface ExcerptSource {
  /** Its first and last bytes: all of it, or at least `maxBytes` of each. */
  head: Buffer
  tail: Buffer
  size: number
}

/** Like `headAndTail`, for bytes. `show` converts a part to text, which may change its length. */
export function excerpt(
  source: ExcerptSource,
  maxBytes: number,
  where: string,
  show: (bytes: Buffer) => string,
): string {
  const note = (cut: number) => `[casefile: ${cut} bytes cut here; full text is in ${where}]\n`
  const room = Math.floor((maxBytes - Buffer.byteLength(note(source.size)) - 1) / 2)
  if (room <= 0) {
    const line = Buffer.from(note(source.size))
    return decoded(line.subarray(0, characterEnd(line, Math.min(line.length, maxBytes))))
  }
  const head = fitting(source, room, show, (length) =>
    source.head.subarray(0, headEnd(source.head, length)),
  )
  const tail = fitting(source, room, show, (length) =>
    source.tail.subarray(tailStart(source.tail, length)),
  )
  const gap = head.text === '' || head.text.endsWith('\n') ? '' : '\n'
  return head.text + gap + note(source.size - head.length - tail.length) + tail.text
}

/** Takes a smaller part if needed: U+FFFD is longer than the byte it replaces. */
function fitting(
  { size }: ExcerptSource,
  room: number,
  show: (bytes: Buffer) => string,
  take: (length: number) => Buffer,
): { text: string; length: number } {
  // no more than half of the source, or the two parts would overlap
  let length = Math.min(room, Math.floor(size / 2))
  for (; length > 0; length = Math.floor(length / 2)) {
    const part = take(length)
    const text = show(part)
    if (Buffer.byteLength(text) <= room) return { text, length: part.length }
  }
  return { text: '', length: 0 }
}

function decoded(bytes: Buffer): string {
  return bytes.toString('utf8')
}

function headEnd(bytes: Buffer, length: number): number {
  const lineEnd = length === 0 ? -1 : bytes.lastIndexOf(0x0a, length - 1)
  return lineEnd >= length / 2 ? lineEnd + 1 : characterEnd(bytes, length)
}

function tailStart(bytes: Buffer, length: number): number {
  const start = bytes.length - length
  const lineStart = bytes.indexOf(0x0a, start - 1) + 1
  if (lineStart > 0 && lineStart - start <= length / 2) return lineStart
  let at = start
  while (at < start + 3 && isContinuation(bytes[at])) at++
  return at
}

function characterEnd(bytes: Buffer, length: number): number {
  let at = length
  while (at > length - 3 && at > 0 && isContinuation(bytes[at])) at--
  return at
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
