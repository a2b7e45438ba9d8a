import { BACKLOG } from './backlog.ts'
import { GITHUB } from './github.ts'
import type { Importer, InputFile } from './item.ts'
import { JSON_LIST } from './json-list.ts'

/** GitHub is the last: it is what a file is read as if no other importer knows it. */
export const IMPORTERS: readonly Importer[] = [BACKLOG, JSON_LIST, GITHUB]

export function findImporter(id: string): Importer | undefined {
  return IMPORTERS.find((each) => each.id === id)
}

export function importerFor(file: InputFile): Importer {
  return IMPORTERS.find((each) => each.matches(file)) ?? GITHUB
}
