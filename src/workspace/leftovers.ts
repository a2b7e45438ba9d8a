/**
 * Cleans up at start after kill -9: temporary files of the state folder first, those in case folders once the cases
 * are read. Sessions without processes (`sessions/session-jobs.ts`) and missing history lines (`pending-history.ts`) are
 * handled elsewhere, in the order of `service.ts`.
 */

import { join } from 'node:path'
import { codeOf } from '../files/errno.ts'
import type { EntryKind } from '../files/folder-names.ts'
import { removeStubborn } from '../files/remove-stubborn.ts'
import { isTempName, removeTempFiles } from '../files/temp-files.ts'
import type { StateFolder } from '../state/state-folder.ts'
import type { Layout } from './layout.ts'

/**
 * Removes temporary files and scratch folders of a killed service, beside the settings too. Only the owner of the memory
 * root calls it, before anything is written. What cannot be removed is logged; the next start tries again.
 */
export async function clearLeftovers(
  state: StateFolder,
  workspace: string,
  log: (line: string) => void,
): Promise<void> {
  const { root } = state
  await removed([workspace, root, join(root, 'hooks')], log)
  // of builds before casefile.db: the first two have copies of case texts
  for (const name of ['kept', 'search', 'numbers', 'trails']) await removeStubborn(join(root, name))
  const why = await removeStubborn(state.scratch)
  if (why === null) return
  log(
    `Not all files that agents or programs left in ${state.scratch} could be removed (${why}). Remove them manually, or the next start will try again.`,
  )
}

async function removed(folders: readonly string[], log: (line: string) => void): Promise<void> {
  try {
    await removeTempFiles(folders)
  } catch (error) {
    if (codeOf(error) === '') throw error
    log(`temporary files of an earlier service could not be removed: ${(error as Error).message}`)
  }
}

/** Temporary files in case folders, collected while a start reads the cases. */
export interface CaseLeftovers {
  /** Call with the entries of a case folder, its sessions/ or its proof/. */
  saw(folder: string, kinds: ReadonlyMap<string, EntryKind>): void
  /** Removes the temporary files, also in other folders of these cases, and stops collecting. */
  clear(): Promise<void>
}

export function createCaseLeftovers(
  layout: Pick<Layout, 'memoryRoot' | 'cases'>,
  log: (line: string) => void,
): CaseLeftovers {
  let folders: Set<string> | null = new Set([layout.memoryRoot, layout.cases])
  return {
    saw(folder, kinds) {
      if (!folders) return
      if ([...kinds.keys()].some(isTempName)) folders.add(folder)
      for (const [name, kind] of kinds) {
        if (kind === 'folder' && !WATCHED.includes(name)) folders.add(join(folder, name))
      }
    },
    async clear() {
      const found = [...(folders ?? [])]
      folders = null
      await removed(found, log)
    },
  }
}

/** `saw` is called for these folders separately. */
const WATCHED = ['sessions', 'proof']
