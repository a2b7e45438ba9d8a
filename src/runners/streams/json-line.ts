import type { UnknownRecord } from '../agents/unknown-record.ts'

/** Parses a line as a JSON event; null for any other line. */
export function readEvent(line: string): UnknownRecord | null {
  const text = line.trim()
  if (!text.startsWith('{')) return null
  try {
    return JSON.parse(text) as UnknownRecord
  } catch {
    return null // text for people, or a truncated line: the log has it
  }
}
