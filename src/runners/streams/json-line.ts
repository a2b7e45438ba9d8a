import type { Foreign } from '../agents/foreign.ts'

/** The event that a line of JSON is; null for any other line. */
export function readEvent(line: string): Foreign | null {
  const text = line.trim()
  if (!text.startsWith('{')) return null
  try {
    return JSON.parse(text) as Foreign
  } catch {
    return null // a line for people, or one that was cut: it is in the log
  }
}
