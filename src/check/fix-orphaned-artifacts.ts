import { lastOf } from '../model/trail.ts'
import { renameArtifacts } from '../runners/output/artifact-renaming.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { isOutputOf } from './artifact-owner.ts'
import type { Fixer } from './fixer.ts'

/**
 * Renames this machine's artifacts after their session got another number, for example in another clone. Otherwise
 * they would seem to belong to the session that has the old number now.
 */
export async function fixOrphanedArtifacts(fixer: Fixer, entry: CaseEntry): Promise<void> {
  const { layout } = fixer.snapshot
  for (const [number, { value }] of entry.sessions) {
    const from = value && lastOf(value.trail, 'renumbered')?.fields.from
    if (!value || typeof from !== 'number') continue
    await fixer.fix(layout.artifacts(entry.id), async () => {
      if (!(await isOutputOf(layout, entry.id, from, value))) return null
      const present = entry.sessions.get(from)?.value
      if (present && (await isOutputOf(layout, entry.id, from, present))) return null
      const renamed = await renameArtifacts(layout, entry.id, from, number)
      return renamed.length > 0
        ? `the artifacts of session ${from} belong to session ${number}, so they are now ${renamed.join(', ')}`
        : null
    })
  }
}
