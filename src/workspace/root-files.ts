import { writeDurable } from '../files/durable-write.ts'
import { readRegular } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import type { Layout } from './layout.ts'

/**
 * Replaces lines that older versions wrote into a file of the memory root. Other lines, which may be a person's, stay.
 * Returns whether there were such lines.
 */
export async function updateRootFile(
  { memoryRoot }: Layout,
  name: string,
  old: RegExp,
  lines: string,
): Promise<boolean> {
  const path = `${memoryRoot}/${name}`
  const read = await readRegular(path, { maxBytes: 1024 * 1024, within: memoryRoot })
  if (!read.ok) return false
  const text = read.bytes.toString('latin1') // every byte of the other lines is kept
  const after = text.replace(old, lines)
  if (after === text) return false
  try {
    await writeDurable(path, Buffer.from(after, 'latin1'), { expect: read.bytes })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'changed_meanwhile') return false
    throw error
  }
}
