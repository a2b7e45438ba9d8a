import { hash } from 'node:crypto'
import { type GitCommandOptions, runGit } from '../git/run-git.ts'
import type { FileResult } from '../model/session-results.ts'

const MAX_BYTES = 8 * 1024 * 1024
const LFS_POINTER = 'version https://git-lfs.github.com/spec/'

/**
 * Whether an object of git, null for no file, is what a session left. The session's bytes are those of the working
 * folder: git may have converted line ends since, or have put a pointer in the place of a large file, which says nothing
 * about them.
 */
export async function isResult(
  object: string | null,
  result: FileResult,
  git: GitCommandOptions,
): Promise<boolean> {
  if (object === null || result.object === null) return object === result.object
  if (object.startsWith(result.object)) return true
  const options = { ...git, maxBytes: MAX_BYTES }
  const { exit, stdout } = await runGit(['cat-file', 'blob', object], options)
  if (exit !== 0) return false
  if (stdout.subarray(0, LFS_POINTER.length).toString() === LFS_POINTER) return true
  const text = stdout.toString('latin1')
  if (text.includes('\r') || !text.includes('\n')) return false
  const bytes = Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1')
  return blobId(bytes, object.length).startsWith(result.object)
}

function blobId(bytes: Buffer, digits: number): string {
  const head = Buffer.from(`blob ${bytes.length}\0`)
  return hash(digits === 40 ? 'sha1' : 'sha256', Buffer.concat([head, bytes]))
}
