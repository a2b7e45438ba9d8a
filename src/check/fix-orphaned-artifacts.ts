import { lastOf } from '../model/trail.ts'
import { renameArtifacts } from '../runners/output/artifact-renaming.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { isOutputOf } from './artifact-owner.ts'
import type { Fixer } from './fixer.ts'

/**
 * Lets the artifacts of this machine follow a session that got another number, in another clone say.
 * Under the old one they would pass for those of the session that has it now.
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
        ? `what session ${from} left is that of session ${number}: ${renamed.join(', ')}`
        : null
    })
  }
}
