import { rm } from 'node:fs/promises'
import { UUID } from '../model/words.ts'
import { entriesIn } from './folder-names.ts'
import type { Layout } from './layout.ts'
import { removeTempFiles } from './temp-files.ts'

/**
 * Removes the temporary files and scratch folders that a killed service left: only for the owner of
 * the memory root, before anything is written.
 */
export async function clearLeftovers(layout: Layout, scratch: string): Promise<void> {
  await removeTempFiles([layout.memoryRoot, layout.cases])
  for (const id of (await entriesIn(layout.cases)).filter((name) => UUID.test(name))) {
    const folders = [
      layout.caseFolder(id),
      layout.sessions(id),
      layout.proofs(id),
      layout.artifacts(id),
    ]
    await removeTempFiles(folders)
  }
  await rm(scratch, { recursive: true, force: true })
}
