/** Reports markdown files whose names the service does not support. */

import type { EntryKind } from '../files/folder-names.ts'
import { isConflictCopy } from '../model/conflict-copy.ts'
import { isMemoryName, isNoteName, MEMORY_NAME_RULE } from '../model/memory-name.ts'
import { SESSION_FILE, UUID } from '../model/name-patterns.ts'
import type { Problem } from '../model/problem.ts'
import { isEditorFile } from './watching/editor-files.ts'

/**
 * Returns a problem for each markdown file with an unsupported name in a case folder (`.`), its sessions/ or proof/.
 */
export function unservedNames(
  folder: string,
  kinds: ReadonlyMap<string, EntryKind> | null,
): Problem[] {
  const problems: Problem[] = []
  for (const [name, kind] of kinds ?? []) {
    const path = folder === '.' ? name : `${folder}/${name}`
    if (kind !== 'file' || !isCheckedName(name) || isConflictCopy(path)) continue
    const message = ADVICE[folder]!(name)
    if (message !== null) problems.push(badName(path, message))
  }
  return problems
}

/** Whether the name is that of a markdown file, and not one that an editor or the service itself makes. */
function isCheckedName(name: string): boolean {
  return /\.md[. ]*$/i.test(name) && !isEditorFile(name)
}

/** Advice for an unsupported name, by folder; null for a supported name. */
const ADVICE: Record<string, (name: string) => string | null> = {
  '.': (name) => {
    if (name === 'case.md' || isNoteName(name)) return null
    if (name.toLowerCase() === 'case.md') return `rename it to case.md, in lower case`
    if (name.toLowerCase() === 'latest.md')
      return 'latest.md means the newest session: give this memory file another name'
    if (isMemoryName(name))
      return `${name} means a session: move it to sessions/${name} if it is one, else give it another name`
    return `rename it: a memory file has ${MEMORY_NAME_RULE}`
  },
  sessions: (name) => {
    if (name === 'latest.md' || SESSION_FILE.test(name)) return null
    return 'rename it to a session number, such as 3.md, or move a memory file up into the folder of the case'
  },
  proof: (name) => {
    const id = name.slice(0, -3)
    if (name.endsWith('.md') && UUID.test(id)) return null
    if (UUID.test(id.toLowerCase())) return `rename it to ${id.toLowerCase()}.md, in lower case`
    return 'a proof has a UUID in lower case as its name: rename it to one (uuidgen prints one), or attach it with casefile prove add'
  },
}

function badName(file: string, advice: string): Problem {
  return {
    code: 'bad_name',
    file,
    line: null,
    message: `this file is ignored because of its name: ${advice}`,
  }
}
