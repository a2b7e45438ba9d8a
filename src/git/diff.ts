/** Parses the output of `git diff` between two trees. */

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
 * Parses the output of `git diff-tree -r -z --raw --numstat`: first a record per file, then the line counts in the
 * same order. With `-z` names are not quoted and follow a NUL.
 */
export function parseTreeDiff(output: string): TreeDiff {
  const fields = output.split('\0')
  const files: FileChange[] = []
  let at = 0
  const next = () => fields[at++] ?? ''

  while (fields[at]?.startsWith(':')) {
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
    if (name === '') at += 2
    if (additions === '-') change.binary = true
    else Object.assign(change, { additions: Number(additions), deletions: Number(deletions) })
  }

  const inOrder = [...files]
  files.sort((a, b) => lines(b) - lines(a) || (a.file < b.file ? -1 : 1))
  return {
    file: files[0]?.file ?? '',
    additions: files.reduce((sum, change) => sum + change.additions, 0),
    deletions: files.reduce((sum, change) => sum + change.deletions, 0),
    files,
    inOrder,
  }
}

const NO_LINES = { additions: 0, deletions: 0, binary: false }

/** Other codes, such as `M` and `T` (a file became a link or vice versa), mean changed. */
const STATUS: Record<string, FileStatus> = { A: 'added', D: 'deleted' }

function lines(change: FileChange): number {
  return change.additions + change.deletions
}
