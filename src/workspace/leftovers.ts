import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { UUID } from '../model/words.ts'
import { isTempName, removeTempFiles } from './disk/temp-files.ts'
import { entriesIn, kindsIn } from './folder-names.ts'
import type { Layout } from './layout.ts'
import type { StateFolder } from './state-folder.ts'

/**
 * Removes the temporary files and scratch folders that a killed service left: only for the owner of
 * the memory root, before anything is written.
 */
export async function clearLeftovers(layout: Layout, state: StateFolder): Promise<void> {
  await removeTempFiles([state.runs, join(state.root, 'numbers')])
  await removeTempFiles(await foldersWithRecords(layout))
  await rm(state.scratch, { recursive: true, force: true })
}

/** The folders of a memory root in which files are made, and so may have been left half-made. */
export async function foldersWithRecords(layout: Layout): Promise<string[]> {
  const found = [layout.memoryRoot, layout.cases]
  for (const id of (await entriesIn(layout.cases)).filter((name) => UUID.test(name))) {
    const folder = layout.caseFolder(id)
    const inside = await kindsIn(folder)
    if (!inside || inside === 'hidden') continue
    if ([...inside.keys()].some(isTempName)) found.push(folder)
    const folders = [...inside].filter(([, kind]) => kind === 'folder')
    found.push(...folders.map(([name]) => join(folder, name)))
  }
  return found
}
