import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { hasCode } from '../files/errno.ts'
import { readNow, stampNow } from '../files/read-now.ts'
import type { FileStamp } from '../files/safe-read.ts'
import { printOf } from './case-stamps.ts'
import { isSettled } from './record.ts'

/** Of a larger file the beginning is searched. */
export const MAX_SEARCHED_BYTES = 256 * 1024
const MAX_READ_BYTES = 16 * 1024 * 1024

/** The text of a file of a case as far as it is searched; null where it is no text, or not there. */
export function readSearched(folder: string, name: string): string | null {
  const read = readNow(`${folder}/${name}`, MAX_READ_BYTES, folder)
  if (!read.ok) return null
  const isWhole = read.bytes.length <= MAX_SEARCHED_BYTES
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const bytes = read.bytes.subarray(0, MAX_SEARCHED_BYTES)
    const text = decoder.decode(bytes, { stream: !isWhole }) // may end within a character
    return text.includes('\0') ? null : text
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/**
 * The fingerprint of a case's files as they are now, as a `KeptCase` has it; 0 where one has changed so short a time
 * ago that its stamp does not vouch for what is read next.
 */
export function searchedPrint(folder: string, names: readonly string[]): number {
  const stamps: FileStamp[] = []
  for (const name of names) {
    const stamp = stampNow(name === '.' ? folder : `${folder}/${name}`)
    if (!stamp || !isSettled(stamp)) return 0
    stamps.push(stamp)
  }
  return Number.parseInt(printOf(stamps)!.slice(0, 12), 16)
}

/** What was kept under this title, if it is whole; null else, whatever is the matter with it. */
export function readSearchCache(path: string, title: string): Buffer | null {
  try {
    if (!lstatSync(path).isFile()) return null // who reads a pipe waits
    const bytes = readFileSync(path)
    const end = bytes.indexOf(0x0a)
    const kept = bytes.subarray(end + 1)
    return bytes.toString('utf8', 0, end) === headOf(title, kept) ? kept : null
  } catch {
    return null // it is needed for nothing but time
  }
}

export function writeSearchCache(path: string, title: string, bytes: Buffer): void {
  const temp = `${path}.new` // one process owns the folder
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(temp, Buffer.concat([Buffer.from(`${headOf(title, bytes)}\n`), bytes]), {
      mode: 0o600,
    })
    renameSync(temp, path)
  } catch (error) {
    rmSync(temp, { force: true })
    throw error
  }
}

export function dropSearchCache(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EIO', 'EROFS')) throw error
  }
}

function headOf(title: string, kept: Buffer): string {
  return JSON.stringify(['casefile search', 2, title, kept.length, crc32(kept)])
}
