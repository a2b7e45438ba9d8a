/** Parses what git lists of the difference between a tree and an index. */

export type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed'

export interface FileChange {
  /** Relative to the working folder, with slashes. */
  file: string
  status: FileStatus
  /** The old name of a renamed file. */
  from?: string
  /** The id of what it has now; null if it is gone. */
  object: string | null
  /** Number of lines; 0 for a binary file. */
  additions: number
  deletions: number
  binary: boolean
}

export interface TreeDiff {
  /** The files in the order of git, which its patch has too. */
  inOrder: readonly FileChange[]
  /** The file with the most changed lines; empty if nothing changed. */
  file: string
  additions: number
  deletions: number
  /** The files with the most changed lines first. */
  files: FileChange[]
}

/**
 * Parses the output of `git diff-index -r -z --raw --numstat`, or with `-p`: first a record per file, then the line counts
 * in the same order, then the patch. With `-z` names are not quoted and follow a NUL. `diff` is null if the output ends
 * before the patch begins.
 */
export function parseTreeDiff(output: Buffer): { diff: TreeDiff | null; patch: Buffer } {
  const files: FileChange[] = []
  let at = 0
  let isWhole = true
  const next = () => {
    const end = output.indexOf(0, at)
    if (end < 0) isWhole = false
    const field = output.toString('utf8', at, end < 0 ? output.length : end)
    at = end < 0 ? output.length : end + 1
    return field
  }

  while (output[at] === COLON) {
    const [, , , after = '', status = ''] = next().split(' ')
    const from = next()
    const object = /^0+$/.test(after) ? null : after
    files.push(
      status.startsWith('R')
        ? { ...NO_LINES, file: next(), status: 'renamed', from, object }
        : { ...NO_LINES, file: from, status: STATUS[status] ?? 'modified', object },
    )
  }
  for (const change of files) {
    const [additions, deletions, name] = next().split('\t')
    // for a renamed file the counts end with a tab, and both names follow
    if (name === '') [next(), next()]
    if (additions === '-') change.binary = true
    else Object.assign(change, { additions: Number(additions), deletions: Number(deletions) })
  }
  // an empty field separates them
  const patch = output.subarray(at + 1)
  if (!isWhole) return { diff: null, patch }

  const inOrder = [...files]
  files.sort((a, b) => lines(b) - lines(a) || (a.file < b.file ? -1 : 1))
  const diff = {
    file: files[0]?.file ?? '',
    additions: files.reduce((sum, change) => sum + change.additions, 0),
    deletions: files.reduce((sum, change) => sum + change.deletions, 0),
    files,
    inOrder,
  }
  return { diff, patch }
}

const COLON = 0x3a
const NO_LINES = { additions: 0, deletions: 0, binary: false }

/** Other codes, such as `M` and `T` (a file became a link or vice versa), mean changed. */
const STATUS: Record<string, FileStatus> = { A: 'added', D: 'deleted' }

function lines(change: FileChange): number {
  return change.additions + change.deletions
}
