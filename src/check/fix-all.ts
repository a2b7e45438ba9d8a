import { fixDuplicateNumbers } from './fix-duplicate-numbers.ts'
import { fixLatest } from './fix-latest.ts'
import { fixOrphanedArtifacts, fixOrphanedPictures } from './fix-orphaned-artifacts.ts'
import { fixPathFields } from './fix-path-fields.ts'
import { fixGitFiles, removeLeftovers } from './fix-root.ts'
import { fixMovedSessions, fixStateCopies, fixTrails } from './fix-sessions.ts'
import { createFixer, type FixReport } from './fixer.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Fixes problems that have exactly one right answer, and changes nothing else that a person wrote. Safe next to a
 * running service: a file is written only if it is unchanged since it was read, and files of running sessions are
 * left alone.
 */
export async function fixAll(snapshot: Snapshot, now: () => string): Promise<FixReport> {
  const fixer = createFixer(snapshot, now)
  await removeLeftovers(fixer)
  await fixGitFiles(fixer)
  for (const id of snapshot.catalog.ids()) {
    const entry = snapshot.catalog.entry(id)!
    await fixDuplicateNumbers(fixer, entry)
    await fixPathFields(fixer, entry)
    await fixMovedSessions(fixer, entry)
    await fixTrails(fixer, entry)
    await fixStateCopies(fixer, entry)
    await fixOrphanedArtifacts(fixer, entry)
    await fixOrphanedPictures(fixer, entry)
    await fixLatest(fixer, entry)
  }
  return fixer.done
}
