/** So much of a line that is cut may be left out, to begin where it is sure what comes. */
const MOST_BYTES = 64

/**
 * Pure. Where to begin in bytes that were cut out of a log anywhere: behind the end of a line or at an escape
 * sequence, if one is near, since another may be cut; else at a character. `isMidLine`: the beginning of
 * that line is missing.
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
/** Stands for what is missing of a line. */
export const CUT = '…'
