import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, hasCode } from '../files/errno.ts'
import { runGit } from './command.ts'
import type { DotGit } from './dot-git.ts'

/** What git said, by the index that it read. */
const known = new Map<string, { stamp: string; isTracked: boolean }>()

/** Whether a repository tracks files below a path in it; also if git cannot say. Starts git only for a new index. */
export async function tracksFiles({ top, gitDir }: DotGit, path: string): Promise<boolean> {
  try {
    const index = await stat(join(gitDir, 'index'), { bigint: true }).catch(ifMissing)
    const stamp = index && `${index.ino} ${index.size} ${index.mtimeNs} ${index.ctimeNs}`
    const key = `${gitDir}\0${path}`
    const last = known.get(key)
    if (last && last.stamp === stamp) return last.isTracked
    const limits = { maxBytes: 1, timeoutMs: 10_000 }
    const { exit, stdout } = await runGit(['ls-files', '-z', '--', path], { cwd: top, ...limits })
    const isTracked = exit !== 0 || stdout.length > 0
    if (stamp !== null) known.set(key, { stamp, isTracked })
    return isTracked
  } catch (error) {
    if (codeOf(error) === '') throw error
    return true
  }
}

function ifMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null
  throw error
}
