import { fstatSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** How records stand in a kept file: a header with the length of each part and a checksum, then the parts. */
export const MAGIC = 0x31_6b_66_43
/** Never within a record, whose parts are JSON: at least one length behind it has a byte that JSON escapes. */
const MAGIC_BYTES = Buffer.from('Cfk1')
const PARTS = 5
/** Magic, the lengths of the parts, and a checksum over these and all parts. */
export const HEADER_BYTES = 4 * (PARTS + 2)
/** No case has as much: a larger length is damage. */
const MAX_RECORD_BYTES = 256 * 1024 * 1024
const CHUNK_BYTES = 4 * 1024 * 1024

/** What a record is made of: a text stands for its bytes in UTF-8. */
export type Part = string | Buffer

/** One for all records, as thousands are made in a row. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024)
const MAX_SCRATCH_BYTES = 1024 * 1024

/** A view that is good until the next call. */
export function recordOf(parts: readonly Part[]): Buffer {
  const most = parts.reduce((sum, part) => sum + mostBytesOf(part), HEADER_BYTES)
  let record = scratch
  if (most > scratch.length) {
    record = Buffer.allocUnsafeSlow(most)
    if (most <= MAX_SCRATCH_BYTES) scratch = record
  }
  record.writeUInt32LE(MAGIC, 0)
  let end = HEADER_BYTES
  for (let index = 0; index < PARTS; index++) {
    const part = parts[index] ?? ''
    const length = typeof part === 'string' ? record.write(part, end) : part.copy(record, end)
    record.writeUInt32LE(length, 4 + index * 4)
    end += length
  }
  const crc = crc32(record.subarray(HEADER_BYTES, end), crc32(record.subarray(0, HEADER_BYTES - 4)))
  record.writeUInt32LE(crc, HEADER_BYTES - 4)
  return record.subarray(0, end)
}

/** No character of a text takes more than three bytes for each of its units. */
function mostBytesOf(part: Part): number {
  return typeof part === 'string' ? part.length * 3 : part.length
}

export function lengthsIn(header: Buffer): number[] {
  const lengths: number[] = []
  for (let part = 0; part < PARTS; part++) lengths.push(header.readUInt32LE(4 + part * 4))
  return lengths
}

export function isWhole(record: Buffer): boolean {
  const crc = crc32(record.subarray(HEADER_BYTES), crc32(record.subarray(0, HEADER_BYTES - 4)))
  return crc === record.readUInt32LE(HEADER_BYTES - 4)
}

/** Called for each whole record, oldest first, with its first part and the length of all. */
export type FoundRecord = (at: number, head: Buffer, length: number) => void

/** Passes over what is damaged; gives the end of the last whole record. */
export function readAll(file: number, begin: number, found: FoundRecord): number {
  const { size } = fstatSync(file)
  let chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, Math.max(size - begin, 1)))
  let chunkAt = begin
  let filled = 0
  /** `length` bytes of the file from `at` on, as a view that is good until the next call; null where it has ended. */
  const bytesAt = (at: number, length: number): Buffer | null => {
    if (at + length > chunkAt + filled) {
      if (at + length > size) return null
      if (length > chunk.length) chunk = Buffer.allocUnsafeSlow(length)
      chunkAt = at
      filled = readFully(file, chunk, at)
      if (filled < length) return null
    }
    return chunk.subarray(at - chunkAt, at - chunkAt + length)
  }
  /** Says how long the record is; 0 where none stands there that is whole. */
  const record = (at: number): number => {
    const header = bytesAt(at, HEADER_BYTES)
    if (!header || header.readUInt32LE(0) !== MAGIC) return 0
    const lengths = lengthsIn(header)
    const total = lengths.reduce((sum, length) => sum + length, HEADER_BYTES)
    const all = total > MAX_RECORD_BYTES ? null : bytesAt(at, total)
    if (!all || !isWhole(all)) return 0
    found(at, all.subarray(HEADER_BYTES, HEADER_BYTES + lengths[0]!), total)
    return total
  }
  const nextMagic = (from: number): number | null => {
    for (let at = from; at + HEADER_BYTES <= size; ) {
      const length = Math.min(CHUNK_BYTES, size - at)
      const index = bytesAt(at, length)?.indexOf(MAGIC_BYTES) ?? -1
      if (index >= 0) return at + index
      at += length - MAGIC_BYTES.length + 1
    }
    return null
  }
  let end = begin
  for (let at: number | null = begin; at !== null; ) {
    const length = record(at)
    if (length > 0) end = at + length
    at = length > 0 ? end : nextMagic(at + 1)
  }
  return end
}

export function readFully(file: number, into: Buffer, at: number): number {
  let length = 0
  while (length < into.length) {
    const count = readSync(file, into, length, into.length - length, at + length)
    if (count === 0) break
    length += count
  }
  return length
}

export function writeAll(file: number, bytes: Buffer, at: number): void {
  let written = 0
  while (written < bytes.length) {
    written += writeSync(file, bytes, written, bytes.length - written, at + written)
  }
}
