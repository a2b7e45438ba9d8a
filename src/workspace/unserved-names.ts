/** Reports markdown files whose names the service does not support. */

import { type EntryKind, kindsIn } from '../files/folder-names.ts'
import { isOfFolder, stampNow } from '../files/read-now.ts'
import { type FileStamp, sameStamp } from '../files/safe-read.ts'
import { isConflictCopy } from '../model/conflict-copy.ts'
import { isMemoryName, isNoteName, MEMORY_NAME_RULE } from '../model/memory-name.ts'
import type { Problem } from '../model/problem.ts'
import { SESSION_FILE, UUID } from '../model/words.ts'
import { isSettled } from './record.ts'
import { isEditorFile } from './sync/editor-files.ts'

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
    return 'a proof has a UUID in lower case as its name: rename it to one (uuidgen prints one), or attach it with casefile proof'
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

const RECORD_FOLDERS: readonly string[] = ['sessions', 'proof', 'artifacts']
const MAX_FOLDERS = 50

/** Whether an entry of a case folder is a folder in which markdown files are reported, because they are not read there. */
export function isOtherFolder(name: string, kind: EntryKind): boolean {
  return kind === 'folder' && !name.startsWith('.') && !RECORD_FOLDERS.includes(name)
}

/** The results of the last time. */
interface Earlier {
  folders: ReadonlyMap<string, FileStamp | null>
  problems: readonly Problem[]
}

/**
 * Returns problems for markdown files in other folders of a case, also nested ones. Stores their stamps in `folders`,
 * so that unchanged folders are not listed again.
 */
export function unservedFolders(
  caseFolder: string,
  inside: ReadonlyMap<string, EntryKind>,
  folders: Map<string, FileStamp | null>,
  earlier: Earlier | undefined,
): Problem[] {
  const problems: Problem[] = []
  const pending = listOtherFolders(inside, '')
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    const path = `${caseFolder}/${name}`
    const stamp = stampNow(path)
    if (!stamp || !isOfFolder(stamp)) continue
    folders.set(name, isSettled(stamp) ? stamp : null)
    const lastStamp = earlier?.folders.get(name)
    const isUnchanged = lastStamp && sameStamp(lastStamp, stamp)
    const kinds = isUnchanged ? null : kindsIn(path)
    if (kinds === 'hidden') continue
    if (kinds === null) {
      const prefix = `${name}/`
      problems.push(...(earlier?.problems.filter(({ file }) => isDirectlyIn(file, prefix)) ?? []))
      const inner = [...(earlier?.folders.keys() ?? [])].filter((each) =>
        isDirectlyIn(each, prefix),
      )
      pending.push(...inner)
    } else {
      const message = 'only the folder of the case itself is read: move it there'
      const files = [...kinds].filter(([each, kind]) => kind === 'file' && isCheckedName(each))
      problems.push(...files.map(([each]) => badName(`${name}/${each}`, message)))
      pending.push(...listOtherFolders(kinds, `${name}/`))
    }
    pending.splice(Math.max(0, MAX_FOLDERS - folders.size))
  }
  return problems
}

function listOtherFolders(kinds: ReadonlyMap<string, EntryKind>, prefix: string): string[] {
  return [...kinds]
    .filter(([name, kind]) => isOtherFolder(name, kind) && !name.includes('\n'))
    .map(([name]) => prefix + name)
}

function isDirectlyIn(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && !path.slice(prefix.length).includes('/')
}
