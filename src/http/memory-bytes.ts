import type { CaseFolder } from '../model/case-folder.ts'
import type { Layout } from '../workspace/layout.ts'
import { memoryName, readMemory } from '../workspace/memory-files.ts'
import { fileReadError } from './file-read-error.ts'

/** A memory file as it is. Refuses where there is none, or it cannot be read. */
export async function memoryBytes(
  layout: Layout,
  folder: CaseFolder,
  filename: string,
): Promise<Buffer> {
  const read = await readMemory(layout, folder.case.id, memoryName(layout, folder, filename))
  if (read.ok) return read.bytes
  throw fileReadError(filename, read)
}
