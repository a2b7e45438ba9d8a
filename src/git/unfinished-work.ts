import { join } from 'node:path'
import { isOfFolder, stampNow } from '../files/read-now.ts'

/** By what git leaves in its folder until the work is finished. */
const UNFINISHED = {
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  MERGE_HEAD: 'merge',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
} as const

export type UnfinishedWork = (typeof UNFINISHED)[keyof typeof UNFINISHED] | 'am'

/** What git has begun and not finished, such as a merge with conflicts; null if nothing. The folder may be forged. */
export function unfinishedWork(gitDir: string): UnfinishedWork | null {
  for (const [name, work] of Object.entries(UNFINISHED)) {
    const path = join(gitDir, name)
    const stamp = stampNow(path)
    if (stamp === null) continue
    const appliesMail =
      name === 'rebase-apply' && isOfFolder(stamp) && stampNow(join(path, 'applying')) !== null
    return appliesMail ? 'am' : work
  }
  return null
}
