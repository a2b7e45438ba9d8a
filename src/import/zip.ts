import { inflateRawSync } from 'node:zlib'

/** The same limit as for a file that is imported. */
const MAX_BYTES = 256 * 1024 * 1024

const END = 0x06054b50
const ENTRY = 0x02014b50

/** Reads one file from a ZIP archive; null if it is not in it. Throws an Error that says what is wrong with it. */
export function readZipEntry(archive: Uint8Array, name: string): Uint8Array | null {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06'))
  if (end === -1 || end + 22 > bytes.length || bytes.readUInt32LE(end) !== END) {
    throw new Error('it is not a whole ZIP archive')
  }
  const count = bytes.readUInt16LE(end + 10)
  let at = bytes.readUInt32LE(end + 16)
  for (let index = 0; index < count; index++) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== ENTRY) {
      throw new Error('its list of files is damaged')
    }
    const nameLength = bytes.readUInt16LE(at + 28)
    const found = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    if (found === name) return content(bytes, at)
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return null
}

function content(bytes: Buffer, entry: number): Uint8Array {
  const method = bytes.readUInt16LE(entry + 10)
  const size = bytes.readUInt32LE(entry + 20)
  const header = bytes.readUInt32LE(entry + 42)
  if (bytes.readUInt16LE(entry + 8) & 1) throw new Error('it is encrypted')
  if (header + 30 > bytes.length) throw new Error('it is cut short')
  const start = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28)
  if (start + size > bytes.length) throw new Error('it is cut short')
  const packed = bytes.subarray(start, start + size)
  if (method === 0) return packed
  if (method !== 8) throw new Error(`its compression method ${method} is not known`)
  try {
    return inflateRawSync(packed, { maxOutputLength: MAX_BYTES })
  } catch (error) {
    throw new Error(`it cannot be unpacked (${(error as Error).message})`, { cause: error })
  }
}
