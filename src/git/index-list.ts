/** What the user's index lists, asked once for all that a run wants to know of it. */

import { relative } from 'node:path'
import { runGit } from './command.ts'
import { type GitLimits, gitLimits } from './scratch.ts'

export interface ListedFile {
  mode: number
  id: string
  /** 0; 1 to 3 for a version of a file with a conflict, also of one that was resolved. */
  stage: number
  /** As in index-file.ts. */
  path: string
}

export interface IndexList {
  /** The top folder of the working tree. */
  top: string
  files: readonly ListedFile[]
}

/** Also ignored files, and those outside of the sparse checkout. Throws if git cannot read the index. */
export async function listIndex(top: string, limits: GitLimits): Promise<IndexList> {
  const args = ['ls-files', '--stage', '--resolve-undo', '-z', '--full-name']
  const { exit, stdout, stderr } = await runGit(args, { ...gitLimits(limits), cwd: top })
  if (exit !== 0) throw new Error(`git ls-files failed (exit ${exit}): ${stderr.trim()}`)
  const entries = stdout.toString('latin1').split('\0').slice(0, -1)
  const files = entries.map((entry) => {
    const tab = entry.indexOf('\t')
    const [mode = '', id = '', stage] = entry.slice(0, tab).split(' ')
    return { mode: Number.parseInt(mode, 8), id, stage: Number(stage), path: entry.slice(tab + 1) }
  })
  return { top, files }
}

/** The files of a list below an absolute path, by paths from there. */
export function listedBelow({ top, files }: IndexList, folder: string): ListedFile[] {
  const way = relative(top, folder)
  const start = way === '' ? '' : Buffer.from(`${way}/`).toString('latin1')
  return files.flatMap((file) =>
    file.path.startsWith(start)
      ? { ...file, path: Buffer.from(file.path.slice(start.length), 'latin1').toString() }
      : [],
  )
}
