/**
 * Reads and writes git's index, in version 2 of its format: git writes nothing else in a scratch repository. Paths are
 * strings of bytes (latin1), relative to the top of the working tree.
 */

import { hash } from 'node:crypto'

export interface IndexEntry {
  path: string
  /** A nested repository, by the commit it is at. */
  isRepository: boolean
  /** The entry as the file has it. */
  bytes: Buffer
}

const SIGNATURE = 'DIRC'
const HEADER = 12
/** Times, numbers of the file system, mode, owner and size, before the object id. */
const BEFORE_ID = 40
const MODE_AT = 24
const FLAGS = 2
const MAX_LENGTH = 0xfff
const REPOSITORY_MODE = 0o160000

export function readIndex(file: Buffer, objectFormat: string): IndexEntry[] {
  const version = file.length < HEADER ? 0 : file.readUInt32BE(4)
  if (file.toString('latin1', 0, 4) !== SIGNATURE || version !== 2)
    throw new Error(`git wrote an index of an unknown version (${version})`)
  const pathAt = BEFORE_ID + idBytes(objectFormat) + FLAGS
  const entries: IndexEntry[] = []
  let at = HEADER
  for (let left = file.readUInt32BE(8); left > 0; left--) {
    const end = file.indexOf(0, at + pathAt)
    if (end < 0) throw new Error('the index that git wrote is incomplete')
    const size = padded(end - at)
    entries.push({
      path: file.toString('latin1', at + pathAt, end),
      isRepository: file.readUInt32BE(at + MODE_AT) === REPOSITORY_MODE,
      bytes: file.subarray(at, at + size),
    })
    at += size
  }
  return entries
}

/** An entry without times: git reads its file again. */
export function newEntry(path: string, mode: number, id: string): IndexEntry {
  const name = Buffer.from(path, 'latin1')
  const idAndFlags = Buffer.alloc(id.length / 2 + FLAGS)
  idAndFlags.write(id, 'hex')
  idAndFlags.writeUInt16BE(Math.min(name.length, MAX_LENGTH), id.length / 2)
  const bytes = Buffer.alloc(padded(BEFORE_ID + idAndFlags.length + name.length))
  bytes.writeUInt32BE(mode, MODE_AT)
  idAndFlags.copy(bytes, BEFORE_ID)
  name.copy(bytes, BEFORE_ID + idAndFlags.length)
  return { path, isRepository: mode === REPOSITORY_MODE, bytes }
}

/** Each path once. */
export function writeIndex(entries: readonly IndexEntry[], objectFormat: string): Buffer {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))
  const header = Buffer.alloc(HEADER)
  header.write(SIGNATURE, 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(sorted.length, 8)
  const content = Buffer.concat([header, ...sorted.map(({ bytes }) => bytes)])
  return Buffer.concat([content, hash(objectFormat, content, 'buffer')])
}

function idBytes(objectFormat: string): number {
  return objectFormat === 'sha256' ? 32 : 20
}

/** One to eight NULs follow the path. */
function padded(length: number): number {
  return (length + 8) & ~7
}
