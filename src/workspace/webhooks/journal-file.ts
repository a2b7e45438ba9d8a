import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { syncFolder, writeDurable } from '../../files/durable-write.ts'
import { writeAll } from '../../files/new-file.ts'
import { stampOf } from '../../files/safe-read.ts'
import { storageRefusal } from '../../files/storage-refusal.ts'
import { Refusal } from '../../model/refusal.ts'

/** The file of a journal. One call at a time; each rejects with the storage refusal. */
export interface JournalFile {
  /** The bytes that count. */
  readonly size: number
  /** Of what could not be written wholly nothing counts. */
  append(bytes: Buffer): Promise<void>
  /** Makes all of it durable. Once this failed, only `replace` does: the kernel may call lost pages clean. */
  sync(): Promise<void>
  /** Puts these bytes in place of all, durably. When it rejects, either stands there, whole. */
  replace(bytes: Buffer): Promise<void>
  close(): Promise<void>
}

/** The file is made with the first append where it is missing. */
export function createJournalFile(
  path: string,
  found: { size: number; isTorn: boolean },
): JournalFile {
  let { size, isTorn } = found
  let handle: FileHandle | null = null
  /** Whether the folder was synced since the file has its name. */
  let isNamed = false

  async function append(bytes: Buffer): Promise<void> {
    const file = handle ?? (await openFile())
    await cut(file)
    isTorn = true
    try {
      await writeAll(file, bytes, size)
    } catch (error) {
      await cut(file)
      throw error
    }
    isTorn = false
    size += bytes.length
  }

  async function sync(): Promise<void> {
    const file = handle ?? (await openFile())
    await cut(file)
    await file.datasync()
    if (!isNamed) await syncFolder(dirname(path))
    isNamed = true
  }

  async function replace(bytes: Buffer): Promise<void> {
    const file = handle ?? (await openFile())
    const { ino } = await file.stat()
    try {
      await writeDurable(path, bytes, { mode: 0o600 })
      isNamed = true
    } catch (error) {
      // Its last step, the sync of the folder, fails when the new file is there already.
      const stands = await stampOf(path)
      if (!stands || stands.ino === ino || stands.size !== bytes.length) throw error
      isNamed = false
      await leaveFor(bytes.length)
      throw error
    }
    await leaveFor(bytes.length)
  }

  async function leaveFor(newSize: number): Promise<void> {
    size = newSize
    isTorn = false
    await close()
  }

  async function openFile(): Promise<FileHandle> {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
    const file = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
    try {
      const stats = await file.stat()
      if (!stats.isFile() || stats.size < size) throw replacedMeanwhile(path)
      if (stats.size > size) isTorn = true
    } catch (error) {
      await file.close()
      throw error
    }
    handle = file
    return file
  }

  async function cut(file: FileHandle): Promise<void> {
    if (isTorn) await file.truncate(size)
    isTorn = false
  }

  async function close(): Promise<void> {
    const closing = handle
    handle = null
    await closing?.close()
  }

  async function refusing(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      throw storageRefusal(error, path)
    }
  }

  return {
    get size() {
      return size
    },
    append: (bytes) => refusing(append(bytes)),
    sync: () => refusing(sync()),
    replace: (bytes) => refusing(replace(bytes)),
    close: () => refusing(close()),
  }
}

function replacedMeanwhile(path: string): Refusal {
  return new Refusal(
    'changed_meanwhile',
    `${basename(path)} was replaced by somebody else meanwhile, so it is not written. Start the service again.`,
  )
}
