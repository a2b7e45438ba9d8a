import { isConflictCopy } from './conflict-copy.ts'
import { SESSION_FILE } from './name-patterns.ts'

/** The steps of a case, for a plan without an agent. */
export const RUNBOOK_FILE = 'runbook.md'

export const MEMORY_NAME_RULE =
  'a file name that ends in ".md", of at most 255 bytes, that does not begin with "." and does not contain "/", "\\" or control characters'

/** Control characters, line ends, characters that change text direction, and non-characters. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd/\\]/u
const encoder = new TextEncoder()

/** Whether a memory file may have this name: any name that is safe in a path. */
export function isMemoryName(name: string): boolean {
  if (!/\.md$/i.test(name) || name.startsWith('.') || UNSAFE.test(name)) return false
  return encoder.encode(name).length <= 255
}

/** Whether a name, ignoring case, belongs to a file that the service itself writes. */
export function isRecordName(name: string): boolean {
  return ['case.md', 'latest.md'].includes(name.toLowerCase()) || SESSION_FILE.test(name)
}

/** Whether a file with this name in a case folder is a memory file that people and agents write. */
export function isNoteName(name: string): boolean {
  return isMemoryName(name) && !isRecordName(name) && !isConflictCopy(name)
}
