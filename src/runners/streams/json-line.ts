import type { Foreign } from '../agents/foreign.ts'

/** Parses a line as a JSON event; null for any other line. */
export function readEvent(line: string): Foreign | null {
  const text = line.trim()
  if (!text.startsWith('{')) return null
  try {
    return JSON.parse(text) as Foreign
  } catch {
    return null // text for people, or a truncated line: the log has it
  }
}
