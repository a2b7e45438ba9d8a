import { entriesIn } from '../files/folder-names.ts'
import { stampOf } from '../files/safe-read.ts'
import { proofOfPicture } from '../model/picture.ts'
import { lastOf } from '../model/trail.ts'
import { renameArtifacts } from '../runners/output/artifact-renaming.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { removePicture } from '../workspace/pictures.ts'
import { isOutputOf } from './artifact-owner.ts'
import type { Fixer } from './fixer.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Renames this machine's artifacts after their session got another number, for example in another clone. Otherwise
 * they would seem to belong to the session that has the old number now. `had`: the numbers that sessions had here before
 * a merge, by their ids. Their output does not help: two sessions can have the same.
 */
export async function fixOrphanedArtifacts(
  fixer: Pick<Fixer, 'fix'> & { snapshot: Pick<Snapshot, 'layout'> },
  entry: CaseEntry,
  had: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  const { layout } = fixer.snapshot
  for (const [number, { value }] of entry.sessions) {
    const from = value && lastOf(value.trail, 'renumbered')?.fields.from
    if (!value || typeof from !== 'number') continue
    await fixer.fix(layout.artifacts(entry.id), async () => {
      const hadIt = had.get(value.id) === from
      const isOwn = await isOutputOf(layout, entry.id, from, value)
      if (isOwn === false || (isOwn === null && !hadIt)) return null
      const present = hadIt ? null : entry.sessions.get(from)?.value
      if (present && (await isOutputOf(layout, entry.id, from, present))) return null
      const renamed = await renameArtifacts(layout, entry.id, from, number)
      return renamed.length > 0
        ? `the artifacts of session ${from} belong to session ${number}, so they are now ${renamed.join(', ')}`
        : null
    })
  }
}

/** A running service may be about to write the proof of a younger one. */
const MIN_AGE_MS = 60_000

/** Removes pictures whose proof is gone, or was never written because the service was killed. */
export async function fixOrphanedPictures(fixer: Fixer, entry: CaseEntry): Promise<void> {
  const { layout } = fixer.snapshot
  for (const name of await entriesIn(layout.artifacts(entry.id))) {
    const proofId = proofOfPicture(name)
    if (proofId === null || entry.proofs.has(proofId)) continue
    const path = layout.picture(entry.id, name)
    await fixer.fix(path, async () => {
      const [picture, proof] = await Promise.all([
        stampOf(path),
        stampOf(layout.proofFile(entry.id, proofId)),
      ])
      const isYoung = picture !== null && Date.now() - picture.ctimeMs < MIN_AGE_MS
      if (picture === null || proof !== null || isYoung) return null
      await removePicture(layout, entry.id, name)
      return 'removed this picture, because it has no proof'
    })
  }
}
