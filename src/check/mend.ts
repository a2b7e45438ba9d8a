import { mendLatest } from './latest-mend.ts'
import { createMender, type Mending } from './mender.ts'
import { mendPlacedFields } from './placed-fields.ts'
import { mendGitFiles, mendLeftovers } from './root-mends.ts'
import { fixTrails, mendMovedSessions, mendStateCopies } from './session-mends.ts'
import { mendStrayArtifacts } from './stray-artifacts.ts'
import { mendTwins } from './twin-mend.ts'
import type { View } from './view.ts'

/**
 * Mends what has one right answer, and nothing that a person has written: where two answers are
 * possible, the problem stays. Safe beside a service, since each file is written only if it is still
 * what the mend was made on, and none of a session that runs.
 */
export async function mendAll(view: View, now: () => string): Promise<Mending> {
  const mender = createMender(view, now)
  await mendLeftovers(mender)
  await mendGitFiles(mender)
  for (const id of view.catalog.ids()) {
    const entry = view.catalog.entry(id)!
    await mendTwins(mender, entry)
    await mendPlacedFields(mender, entry)
    await mendMovedSessions(mender, entry)
    await fixTrails(mender, entry)
    await mendStateCopies(mender, entry)
    await mendStrayArtifacts(mender, entry)
    await mendLatest(mender, entry)
  }
  return mender.done
}
