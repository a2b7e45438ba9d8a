import { parsePatch, type StructuredPatch } from 'diff'
import type { FileDiff } from './diff-shape.ts'
import { nextLine } from './patch-lines.ts'

/** Of a binary file's part all is head. Names have room in this. */
const MAX_HEAD = 16 * 1024

type Head = Pick<FileDiff, 'file' | 'from' | 'status' | 'binary'>

/** What a file's part of a patch says before its first hunk; what it cannot read is said in `notes`. */
export function readHead(whole: string, notes: string[]): Head {
  const head = beginningOf(whole)
  const patch = parsed(head, notes)
  const before = nameOf(patch?.oldFileName)
  const after = nameOf(patch?.newFileName)
  if (!before && !after) {
    const file = head.split('\n')[0]!.replace(/^diff --git /, '')
    return { file, from: null, status: 'changed', binary: false }
  }
  const { isCreate, isDelete, isRename, oldMode, newMode } = patch!
  if (oldMode && newMode) notes.push(`The mode changed from ${oldMode} to ${newMode}.`)
  const status = isCreate ? 'new' : isDelete ? 'deleted' : isRename ? 'renamed' : 'changed'
  return {
    file: after ?? before!,
    from: isRename ? before : null,
    status,
    binary: patch!.isBinary ?? /^GIT binary patch$/m.test(head),
  }
}

/** In whole lines, unless the first alone is longer. */
function beginningOf(head: string): string {
  if (head.length <= MAX_HEAD) return head
  const end = head.lastIndexOf('\n', MAX_HEAD - 1) + 1
  return head.slice(0, end || Math.min(nextLine(head, 0), MAX_HEAD)).toWellFormed()
}

function parsed(head: string, notes: string[]): StructuredPatch | undefined {
  try {
    return parsePatch(head)[0]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    notes.push(`The head of this file's part could not be read: ${reason}.`)
    return undefined
  }
}

/** Without git's `a/` and `b/`; null for no file. */
function nameOf(name: string | undefined): string | null {
  if (!name || name === '/dev/null') return null
  return name.replace(/^[ab]\//, '')
}
