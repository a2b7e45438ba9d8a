import { type BigIntStats, lstatSync, readFileSync } from 'node:fs'
import { hasCode } from '../disk/errno.ts'

const SECOND = 1_000_000_000n

/** Whether git's index names the stamp that a file has now: then it is as git knows it. */
export function hasStampOf(index: string, path: string): boolean {
  try {
    return readFileSync(index).includes(stampOf(lstatSync(path, { bigint: true })))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return false
    throw error
  }
}

/** As an entry of the index begins, in each version of its format: both times, the device and the inode. */
function stampOf({ ctimeNs, mtimeNs, dev, ino }: BigIntStats): Buffer {
  const words = [ctimeNs / SECOND, ctimeNs % SECOND, mtimeNs / SECOND, mtimeNs % SECOND, dev, ino]
  const stamp = Buffer.alloc(words.length * 4)
  for (const [at, word] of words.entries()) {
    stamp.writeUInt32BE(Number(BigInt.asUintN(32, word)), at * 4)
  }
  return stamp
}
