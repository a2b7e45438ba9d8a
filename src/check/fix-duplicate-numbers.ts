import { basename, join } from 'node:path'
import { createDurable, writeDurable } from '../files/durable-write.ts'
import { conflictName } from '../markdown/conflict-name.ts'
import { renumberedSession } from '../markdown/session-renumbering.ts'
import { validSession } from '../markdown/valid-session.ts'
import { AppError } from '../model/app-error.ts'
import type { Session } from '../model/session.ts'
import { renameArtifacts } from '../runners/output/artifact-renaming.ts'
import { readDatabase } from '../state/read-database.ts'
import { lastSessionNumber } from '../state/session-numbers.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import type { RecordFile } from '../workspace/record-file.ts'
import { nextSessionNumber } from '../workspace/session-number.ts'
import { isOutputOf } from './artifact-owner.ts'
import { findDuplicateNumber, type NumberedSession } from './duplicate-numbers.ts'
import type { Fixer } from './fixer.ts'
import { recordRenumbering } from './record-renumbering.ts'

/**
 * Separates two sessions that two branches created with the same number. The earlier one keeps the number and every
 * byte; the later one gets the next free number. The later one is written first, so that an interrupted run loses
 * neither and can be repeated.
 */
export async function fixDuplicateNumbers(fixer: Fixer, entry: CaseEntry): Promise<void> {
  const { layout } = fixer.snapshot
  const unreadable = [...entry.sessions].filter(([, record]) => !record.readable)
  for (const [number] of unreadable) {
    const path = layout.sessionFile(entry.id, number)
    await fixer.fix(path, async () => {
      const duplicate = await findDuplicateNumber(fixer.snapshot, entry.id, number)
      if (!duplicate || 'reason' in duplicate) return null
      const { earlier, later, present, isEdited } = duplicate
      const to =
        findNewNumber(entry, later) ?? (await writeRenumbered(fixer, entry.id, number, later))
      const within = layout.caseFolder(entry.id)
      const copyName = conflictName(basename(path), fixer.now())
      if (isEdited)
        await createDurable(join(layout.sessions(entry.id), copyName), present, { within })
      await writeDurable(path, earlier.bytes, { expect: present, within })
      const moved = (await isOutputOfLater(fixer, entry.id, number, duplicate))
        ? await renameArtifacts(layout, entry.id, number, to)
        : []
      const isRecorded = await recordRenumbering(fixer, entry.id, later.session, {
        from: number,
        to,
      })
      return [
        `two branches had created session ${number}: the one of ${earlier.session.started_at} keeps the number, the one of ${later.session.started_at} is now session ${to}`,
        ...(moved.length > 0 ? [`its artifacts are now ${moved.join(', ')}`] : []),
        ...(isEdited
          ? [`the file had been edited since the merge; that version is kept as ${copyName}`]
          : []),
        `next, in the folder of the case: git add sessions/${number}.md sessions/${to}.md${isRecorded ? ' history.md' : ''}`,
      ].join('; ')
    })
  }
}

/** Returns the number that an interrupted fix already gave to the session. */
function findNewNumber({ sessions }: CaseEntry, { session }: NumberedSession): number | undefined {
  const isLater = ({ readable, value }: RecordFile<Session | null>) =>
    readable && value?.id === session.id
  return [...sessions].find(([, record]) => isLater(record))?.[0]
}

/** Writes the session under the next free number, and returns that number. */
async function writeRenumbered(
  { snapshot, now }: Fixer,
  id: string,
  from: number,
  { text, session }: NumberedSession,
): Promise<number> {
  const { layout, stateDir } = snapshot
  const last = readDatabase(stateDir, (database) => lastSessionNumber(database, id))
  const to = await nextSessionNumber(layout, last ?? 0, id)
  const renumbered = await renumberedSession(text, { from, to, time: now() })
  const read = await validSession(renumbered, id, to)
  if ('reason' in read || read.id !== session.id || read.state !== session.state) {
    const why = 'reason' in read ? read.reason : 'it would not be the same session'
    throw new AppError('would_be_a_problem', `it cannot be renumbered: ${why}. Renumber it by hand`)
  }
  const within = layout.caseFolder(id)
  await createDurable(layout.sessionFile(id, to), Buffer.from(renumbered), { within })
  return to
}

/**
 * Whether the artifacts with this number belong to the later session. Artifacts are not in git, so they are output of
 * the session that ran on this machine.
 */
async function isOutputOfLater(
  { snapshot: { layout } }: Fixer,
  id: string,
  number: number,
  { earlier, later }: { earlier: NumberedSession; later: NumberedSession },
): Promise<boolean> {
  const isEarliers = await isOutputOf(layout, id, number, earlier.session)
  const isLaters = await isOutputOf(layout, id, number, later.session)
  if ((isEarliers === true) === (isLaters === true)) return later.isOwn
  return isLaters === true
}
