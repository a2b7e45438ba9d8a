import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  unlinkSync,
} from 'node:fs'
import { codeOf, hasCode } from '../../files/errno.ts'
import {
  type FoundRecord,
  HEADER_BYTES,
  isWhole,
  lengthsIn,
  MAGIC,
  type Part,
  readAll,
  readFully,
  recordOf,
  writeAll,
} from './kept-frame.ts'

/**
 * An append-only file of records. Nothing in it is needed: what a crash, a full disk or a person makes of it
 * is found by the checksums and left out. Calls are synchronous, since each is as quick as its way through the
 * thread pool would be.
 */
export interface KeptFile {
  /** Bytes of records, those that are outdated included. */
  readonly size: number
  /** Says where the record stands. Throws what the disk says; then nothing was appended. */
  append(parts: readonly Part[]): number
  /** A part of the record that stands at a place; such a view, too. */
  read(at: number, part: number): Buffer
  /**
   * All parts of the record at a place, as views that are good until the next call; null where none stands
   * there that is whole.
   */
  readSure(at: number): Buffer[] | null
  /** How many bytes the record at a place takes. */
  sizeOf(at: number): number
  /** Takes the place of another file of the kind, under its name. */
  replace(path: string): void
  /** Calls back for each record that is whole, oldest first, but for those that are not written yet. */
  each(found: FoundRecord): void
  /** Writes what is appended so far. */
  flush(): void
  close(): void
  /** Removes it. */
  discard(): void
}

const BUFFERED_BYTES = 256 * 1024
/** For the record that fills it: nearly all are smaller. */
const SPARE_BYTES = 32 * 1024
const NOTHING = Buffer.alloc(0)
/** So few that a single call reads nearly every record. */
const MOST_RECORDS_BYTES = 8 * 1024

/** One for all reads: thousands in a row, each with a buffer of its own, leave holes that are never given back. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024)
const MAX_SCRATCH_BYTES = 1024 * 1024

function scratchOf(length: number): Buffer {
  if (length <= scratch.length) return scratch.subarray(0, length)
  const larger = Buffer.allocUnsafeSlow(length)
  if (length <= MAX_SCRATCH_BYTES) scratch = larger
  return larger
}

/**
 * Opens the file and gives its records to `found`, oldest first, as far as they are whole; what follows the last is
 * cut off. One that does not begin with `title` is begun anew. Without `found` nothing is read, and only
 * `readSure` says whether a record is whole.
 */
export function openKeptFile(path: string, title: string, found: FoundRecord | null): KeptFile {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    const first = Buffer.from(`${title}\n`)
    const begin = first.length
    let end = hasTitle(file, first) ? endOf(file, begin, found) : 0
    if (end === 0) {
      ftruncateSync(file, 0)
      writeAll(file, first, 0)
      end = begin
    }
    ftruncateSync(file, end)
    return keptFile(file, path, begin, end)
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** A new file, empty but for its title. */
export function createKeptFile(path: string, title: string): KeptFile {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  return openKeptFile(path, title, null)
}

function keptFile(file: number, place: string, begin: number, found: number): KeptFile {
  let path = place
  let end = found
  /** Begins with what is appended but not yet in the file. */
  let waiting: Buffer = NOTHING
  let waitingBytes = 0

  function write(): void {
    if (waitingBytes === 0) return
    writeAll(file, waiting.subarray(0, waitingBytes), end - waitingBytes)
    waitingBytes = 0
  }

  function flush(): void {
    write()
    waiting = NOTHING
  }

  /**
   * So many bytes, or as many as there are, as a view that is good until the next call. What waits is never
   * written for a read: a disk that is full still gives what it was not given.
   */
  function view(at: number, length: number): Buffer {
    const written = end - waitingBytes
    if (at >= written) {
      return waiting.subarray(at - written, Math.min(at - written + length, waitingBytes))
    }
    const bytes = scratchOf(Math.min(length, written - at))
    return bytes.subarray(0, readFully(file, bytes, at))
  }

  function readAt(at: number, length: number): Buffer {
    const bytes = view(at, length)
    if (bytes.length === length) return bytes
    throw new Error(`${path} was cut short while it was in use`)
  }

  function add(bytes: Buffer): number {
    const at = end
    if (waitingBytes + bytes.length > waiting.length) {
      const wanted = Math.max(waitingBytes + bytes.length, BUFFERED_BYTES)
      const larger = Buffer.allocUnsafeSlow(wanted + SPARE_BYTES)
      waiting.copy(larger, 0, 0, waitingBytes)
      waiting = larger
    }
    bytes.copy(waiting, waitingBytes)
    waitingBytes += bytes.length
    end += bytes.length
    try {
      if (waitingBytes >= BUFFERED_BYTES) write()
      return at
    } catch (error) {
      waitingBytes -= bytes.length
      end = at
      throw error
    }
  }

  return {
    get size() {
      return end - begin
    },
    append: (parts) => add(recordOf(parts)),
    read(at, part) {
      const lengths = lengthsIn(readAt(at, HEADER_BYTES))
      const before = lengths.slice(0, part).reduce((sum, length) => sum + length, HEADER_BYTES)
      return readAt(at + before, lengths[part]!)
    },
    readSure(at) {
      if (at < begin || at + HEADER_BYTES > end) return null
      const first = view(at, MOST_RECORDS_BYTES)
      if (first.length < HEADER_BYTES || first.readUInt32LE(0) !== MAGIC) return null
      const lengths = lengthsIn(first)
      const total = lengths.reduce((sum, length) => sum + length, HEADER_BYTES)
      if (at + total > end) return null
      const all = total > first.length ? view(at, total) : first.subarray(0, total)
      if (all.length < total || !isWhole(all)) return null
      let from = HEADER_BYTES
      return lengths.map((length) => {
        from += length
        return all.subarray(from - length, from)
      })
    },
    sizeOf: (at) =>
      lengthsIn(readAt(at, HEADER_BYTES)).reduce((sum, length) => sum + length, HEADER_BYTES),
    replace(wanted) {
      flush()
      renameSync(path, wanted)
      path = wanted
    },
    each: (found) => void readAll(file, begin, found),
    flush,
    close() {
      try {
        flush()
      } finally {
        closeSync(file)
      }
    },
    discard() {
      closeSync(file)
      unlinkSync(path)
    },
  }
}

function hasTitle(file: number, title: Buffer): boolean {
  const bytes = Buffer.alloc(title.length)
  return (
    fstatSync(file).isFile() && readFully(file, bytes, 0) === title.length && bytes.equals(title)
  )
}

/** The same of a file that is there, to be read alone; null where none is that begins with `title`. */
export function readKeptFile(
  path: string,
  title: string,
  found: FoundRecord | null,
): KeptFile | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const first = Buffer.from(`${title}\n`)
  let file: number
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) !== '') return null
    throw error
  }
  if (!hasTitle(file, first)) {
    closeSync(file)
    return null
  }
  return keptFile(file, path, first.length, endOf(file, first.length, found))
}

function endOf(file: number, begin: number, found: FoundRecord | null): number {
  return found ? readAll(file, begin, found) : fstatSync(file).size
}
