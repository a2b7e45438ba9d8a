import type { FileStamp } from '../../files/safe-read.ts'

const numbers = new Float64Array(5)
const words = new Uint32Array(numbers.buffer)

/**
 * One number, of 53 bits, for the stamps of several files in their order: what a stat tells of each. As
 * likely to miss a change as the time of a file is to stand still. Never a
 * hash against an enemy, who could set the times themselves.
 */
export interface Fingerprint {
  add(stamp: Pick<FileStamp, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino' | 'dev'>): void
  /** Begins anew. */
  end(): number
}

export function createFingerprint(): Fingerprint {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  return {
    add({ size, mtimeMs, ctimeMs, ino, dev }) {
      numbers[0] = size
      numbers[1] = mtimeMs
      numbers[2] = ctimeMs
      numbers[3] = ino
      numbers[4] = dev
      for (const word of words) {
        a = Math.imul(a ^ word, 2654435761)
        b = Math.imul(b ^ word, 1597334677)
        a = (a << 13) | (a >>> 19)
        b = (b << 17) | (b >>> 15)
      }
    },
    end() {
      let x = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
      let y = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
      x ^= x >>> 16
      y ^= y >>> 16
      ;[a, b] = [0xdeadbeef, 0x41c6ce57]
      return 4294967296 * (2097151 & x) + (y >>> 0)
    },
  }
}
