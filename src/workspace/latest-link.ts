import { constants } from 'node:fs'
import { link, readlink, rename, symlink, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { conflictName } from './conflict-copy.ts'
import { syncFolder } from './durable-write.ts'
import { hasCode } from './errno.ts'
import { discard } from './new-file.ts'
import { stampOf } from './safe-read.ts'
import { storageRefusal } from './storage-refusal.ts'
import { tempName } from './temp-files.ts'

/**
 * `in_the_way`: something else than a link has that name (an editor replaced it), and stays.
 * `not_supported`: the file system has no symbolic links.
 */
type PointResult = 'pointed' | 'already' | 'in_the_way' | 'not_supported'

/** Lets `latest.md` name session `number`, in one step: no reader ever finds it missing. */
export async function pointLatest(sessionsFolder: string, number: number): Promise<PointResult> {
  const latest = join(sessionsFolder, 'latest.md')
  const target = `${number}.md`
  const present = await linkTarget(latest)
  if (present === undefined) return 'in_the_way'
  if (present === target) return 'already'
  const temp = tempName(latest)
  try {
    await symlink(target, temp)
  } catch (error) {
    if (hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) return 'not_supported'
    throw storageRefusal(error, latest)
  }
  try {
    await rename(temp, latest)
    await syncFolder(dirname(latest))
  } catch (error) {
    await discard(temp)
    throw storageRefusal(error, latest)
  }
  return 'pointed'
}

/** Null when nothing is there, undefined when it is not a link. */
async function linkTarget(path: string): Promise<string | null | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    if (hasCode(error, 'EINVAL')) return undefined
    throw storageRefusal(error, path)
  }
}

/**
 * An editor that saves by a rename puts a plain file in place of the link: it is kept as a conflict
 * copy, and the link to session `number` comes back.
 */
export async function keepStrayLatest(
  sessionsFolder: string,
  number: number,
  time: string,
): Promise<void> {
  const latest = join(sessionsFolder, 'latest.md')
  const stamp = await stampOf(latest)
  if (!stamp || (stamp.mode & constants.S_IFMT) !== constants.S_IFREG) return
  try {
    // a link first: no copy that is there already is replaced
    await link(latest, join(sessionsFolder, conflictName('latest.md', time)))
    await unlink(latest)
    await syncFolder(sessionsFolder)
  } catch (error) {
    throw storageRefusal(error, latest)
  }
  await pointLatest(sessionsFolder, number)
}
