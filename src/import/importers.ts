import { BACKLOG } from './backlog.ts'
import { BEADS } from './beads.ts'
import { GITHUB } from './github.ts'
import type { Importer, InputFile, Listing } from './item.ts'
import { TASKMASTER } from './taskmaster.ts'
import { VIBE_KANBAN } from './vibe-kanban.ts'

/** GitHub is the last: it is what a file is read as if no other importer knows it. */
export const IMPORTERS: readonly Importer[] = [BACKLOG, BEADS, TASKMASTER, VIBE_KANBAN, GITHUB]

export const IMPORTER_IDS = IMPORTERS.map(({ id }) => id).sort()

export function findImporter(id: string): Importer | undefined {
  return IMPORTERS.find((each) => each.id === id)
}

export function importerFor(file: InputFile): Importer {
  return IMPORTERS.find((each) => each.matches(file)) ?? GITHUB
}

export interface FoundFiles {
  importer: Importer
  files: readonly string[]
}

/** The tools that were used in a project's folder, with their files. */
export function findToolsIn(list: Listing): FoundFiles[] {
  const found = IMPORTERS.map((importer) => ({ importer, files: importer.filesIn(list) }))
  return found.filter(({ files }) => files.length > 0)
}
