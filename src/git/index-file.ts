/**
 * Reads git's index, and writes it in version 2 of its format. Paths are strings of bytes (latin1), relative to the top of
 * the working tree.
 */

import { hash } from 'node:crypto'

export interface IndexEntry {
  path: string
  mode: number
  /** Of the object. */
  id: string
  /** 0; 1 to 3 for a version of a file with a conflict. */
  stage: number
  /** The entry as the file has it. */
  bytes: Buffer
}

const SIGNATURE = 'DIRC'
const HEADER = 12
/** Times, numbers of the file system, mode, owner and size, before the object id. */
const BEFORE_ID = 40
const MODE_AT = 24
const FLAGS = 2
const EXTENDED = 0x4000
const STAGE_AT = 12
const MAX_LENGTH = 0xfff
export const REPOSITORY_MODE = 0o160000
/** Without these the entries are not all that git knows: a split index, a sparse one, conflicts that were resolved. */
const NEEDED = /^(?:[a-z]|REUC)/

/** Null if the file has what only git can read. */
export function readIndex(file: Buffer): IndexEntry[] | null {
  const version = file.length < HEADER ? 0 : file.readUInt32BE(4)
  if (file.toString('latin1', 0, 4) !== SIGNATURE || (version !== 2 && version !== 3)) return null
  const idBytes = idBytesOf(file)
  if (idBytes === null) return null
  const flagsAt = BEFORE_ID + idBytes
  const end = file.length - idBytes
  const entries: IndexEntry[] = []
  let at = HEADER
  for (let left = file.readUInt32BE(8); left > 0; left--) {
    if (at + flagsAt + FLAGS > end) return null
    const flags = file.readUInt16BE(at + flagsAt)
    const pathAt = at + flagsAt + FLAGS + (flags & EXTENDED ? FLAGS : 0)
    const pathEnd = file.indexOf(0, pathAt)
    if (pathEnd < 0) return null
    const size = padded(pathEnd - at)
    entries.push({
      path: file.toString('latin1', pathAt, pathEnd),
      id: file.toString('hex', at + BEFORE_ID, at + flagsAt),
      mode: file.readUInt32BE(at + MODE_AT),
      stage: (flags >> STAGE_AT) & 3,
      bytes: file.subarray(at, at + size),
    })
    at += size
  }
  while (at + 8 <= end) {
    if (NEEDED.test(file.toString('latin1', at, at + 4))) return null
    at += 8 + file.readUInt32BE(at + 4)
  }
  return entries
}

/** When git saw the inode of the file change last, in seconds. */
export const changeSeconds = ({ bytes }: IndexEntry): number => bytes.readUInt32BE(0)

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
  return { path, mode, id, stage: 0, bytes }
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

/** How long the ids are: as long as the hash of all before it, with which the file ends. */
function idBytesOf(file: Buffer): number | null {
  const sizes = { sha1: 20, sha256: 32 }
  for (const [algorithm, bytes] of Object.entries(sizes)) {
    const sum = hash(algorithm, file.subarray(0, -bytes), 'buffer')
    if (sum.equals(file.subarray(-bytes))) return bytes
  }
  return null
}

/** One to eight NULs follow the path. */
function padded(length: number): number {
  return (length + 8) & ~7
}
