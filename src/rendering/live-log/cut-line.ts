/** At most this many bytes of a cut line are skipped to reach a safe beginning. */
const MOST_BYTES = 64

/**
 * Pure. Where to begin reading bytes that were cut out of a log at any place: after a line end or at an escape
 * sequence, if one is near, because the cut may be within an escape sequence; else at a whole character. `isMidLine`:
 * the beginning of that line is missing.
 */
export function beginningOf(bytes: Uint8Array): { start: number; isMidLine: boolean } {
  const head = bytes.subarray(0, MOST_BYTES)
  const line = head.indexOf(LF)
  if (line >= 0) return { start: line + 1, isMidLine: false }
  const sequence = head.indexOf(ESC)
  if (sequence >= 0) return { start: sequence, isMidLine: true }
  const character = head.findIndex((byte) => (byte & 0xc0) !== 0x80)
  return { start: Math.max(0, character), isMidLine: true }
}

const LF = 0x0a
const ESC = 0x1b
/** Shown in place of the missing beginning of a line. */
export const CUT = '…'
