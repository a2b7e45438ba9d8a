/** What the user's index lists. */

import { join, relative } from 'node:path'
import { type FileStamp, readRegular, sameStamp, stampOf } from '../files/safe-read.ts'
import type { DotGit } from './dot-git.ts'
import { gitFailed } from './git-error.ts'
import { readIndex } from './index-file.ts'
import { runGit } from './run-git.ts'
import { type GitLimits, gitLimits } from './scratch.ts'

const MAX_BYTES = 1024 * 1024 * 1024

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

/**
 * Also ignored files, and those outside of the sparse checkout. Starts git only for what it alone can read. Throws if git
 * cannot read it.
 */
export async function listIndex({ top, gitDir }: DotGit, limits: GitLimits): Promise<IndexList> {
  const path = join(gitDir, 'index')
  const stamp = await stampOf(path)
  if (stamp !== null && last?.path === path && sameStamp(last.stamp, stamp))
    return { top, files: last.files }
  const read = await readRegular(path, { maxBytes: MAX_BYTES })
  if (!read.ok && read.reason === 'missing') return { top, files: [] }
  const files = read.ok ? readIndex(read.bytes) : null
  if (read.ok && files !== null) last = { path, stamp: read.stat, files }
  return { top, files: files ?? (await askGit(top, limits)) }
}

/** A run wants to know of it several times, and it may be large. */
let last: { path: string; stamp: FileStamp; files: readonly ListedFile[] } | null = null

async function askGit(top: string, limits: GitLimits): Promise<ListedFile[]> {
  const args = ['ls-files', '--stage', '--resolve-undo', '-z', '--full-name']
  const { exit, stdout, stderr } = await runGit(args, { ...gitLimits(limits), cwd: top })
  if (exit !== 0) throw gitFailed('ls-files', stderr)
  const entries = stdout.toString('latin1').split('\0').slice(0, -1)
  return entries.map((entry) => {
    const tab = entry.indexOf('\t')
    const [mode = '', id = '', stage] = entry.slice(0, tab).split(' ')
    return { mode: Number.parseInt(mode, 8), id, stage: Number(stage), path: entry.slice(tab + 1) }
  })
}

/** Whether git tracks an absolute path, or files below it. */
export function tracks({ top, files }: IndexList, path: string): boolean {
  const way = Buffer.from(relative(top, path)).toString('latin1')
  return files.some((file) => way === '' || file.path === way || file.path.startsWith(`${way}/`))
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
