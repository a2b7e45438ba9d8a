/** Stamps of files that may change between two looks. Paths are strings of bytes, as in folder-walk.ts. */

import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { codeOf, hasCode, isBarred } from '../files/errno.ts'
import { readRegular } from '../files/safe-read.ts'
import { stampPackage, UNCHECKED } from '../model/runs-later.ts'

/** A larger file is compared by its size and times. */
const MAX_READ = 8 * 1024 * 1024
const MAX_PACKAGE = 1024 * 1024

/** Suffix of the stamp of an empty file. */
export const EMPTY = 'empty'

/** A link's stamp has its target and what is there. Null if the path does not exist, or is a folder. */
export async function readStamp(path: string): Promise<string | null> {
  try {
    const stats = await lstat(bytesOf(path))
    if (stats.isDirectory()) return null
    return await (stats.isSymbolicLink() ? stampLink(path) : stampFile(bytesOf(path), stats))
  } catch (error) {
    return toUnchecked(error)
  }
}

/** Null if it is not the JSON of a package. */
export async function readPackageStamp(path: string): Promise<string | null> {
  const real = await realpath(bytesOf(path), 'buffer').catch(toUnchecked)
  if (!Buffer.isBuffer(real)) return null
  const read = await readRegular(real, { maxBytes: MAX_PACKAGE })
  return read.ok ? stampPackage(read.bytes.toString()) : null
}

/** Null for what does not exist or this user cannot examine; after other errors, such as EIO, it is unchecked. */
export function toUnchecked(error: unknown): typeof UNCHECKED | null {
  if (codeOf(error) === '') throw error
  return hasCode(error, 'ENOENT', 'ENOTDIR') || isBarred(error) ? null : UNCHECKED
}

export function bytesOf(path: string): Buffer {
  return Buffer.from(path, 'latin1')
}

async function stampLink(path: string): Promise<string> {
  const link = await readlink(bytesOf(path))
  const real = await realpath(bytesOf(path), 'buffer').catch(toUnchecked)
  const target = Buffer.isBuffer(real) ? await stat(real).catch(toUnchecked) : real
  if (real === UNCHECKED || target === UNCHECKED) return UNCHECKED
  const there = real && target ? await stampFile(real, target) : '- nowhere'
  return there === UNCHECKED ? there : `${there.slice(0, 2)}link ${link} ${there.slice(2)}`
}

async function stampFile(path: Buffer, stats: Stats): Promise<string> {
  const { mode, size, mtimeMs, ctimeMs } = stats
  const sign = mode & 0o111 ? 'x' : '-'
  // its mode is not compared, except the kind of file and whether it is executable
  if (!stats.isFile()) return `${sign} ${mode.toString(8)}`
  const read = await readRegular(path, { maxBytes: MAX_READ })
  if (read.ok) return `${sign} ${read.bytes.length === 0 ? EMPTY : hashOf(read.bytes)}`
  if (read.reason === 'io_error') return UNCHECKED
  return `${sign} ${read.reason} ${size} ${mtimeMs} ${ctimeMs}`
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
