import { join } from 'node:path'
import type { Session } from '../model/session.ts'
import { TRAILS_FOLDER } from '../state/state-folder.ts'
import { createTrailMemory } from '../workspace/trail-memory.ts'
import type { Snapshot } from './snapshot.ts'

/** Remembers an audit trail that a fix has changed, so that the next start does not take it for an edit by hand. */
export function acceptTrail(
  { stateDir }: Pick<Snapshot, 'stateDir'>,
  session: Session,
  text: string,
): Promise<void> {
  return createTrailMemory(join(stateDir, TRAILS_FOLDER)).accept(session, text)
}
