import { basename, join } from 'node:path'
import { createDurable, writeDurable } from '../files/durable-write.ts'
import { renumberedSession } from '../markdown/session-renumbering.ts'
import { AppError } from '../model/app-error.ts'
import type { Session } from '../model/session.ts'
import { renameArtifacts } from '../runners/output/artifact-renaming.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { conflictName } from '../workspace/late-saves/conflict-copy.ts'
import type { RecordFile } from '../workspace/record.ts'
import { nextSessionNumber } from '../workspace/session-number.ts'
import { acceptTrail } from './accept-trail.ts'
import { isOutputOf } from './artifact-owner.ts'
import { findDuplicateNumber, type NumberedSession } from './duplicate-numbers.ts'
import type { Fixer } from './fixer.ts'
import { validSession } from './valid-session.ts'

/**
 * Takes two sessions that two branches made under one number apart: the earlier one keeps the number,
 * byte for byte, the later one gets the next that is free. The later one is written first, so that a
 * run that is cut short loses neither, and the next one finds it.
 */
export async function fixDuplicateNumbers(fixer: Fixer, entry: CaseEntry): Promise<void> {
  const { layout } = fixer.snapshot
  const conflicts = [...entry.sessions].filter(([, record]) => !record.readable)
  for (const [number] of conflicts) {
    const path = layout.sessionFile(entry.id, number)
    await fixer.fix(path, async () => {
      const duplicate = await findDuplicateNumber(fixer.snapshot, entry.id, number)
      if (!duplicate || 'reason' in duplicate) return null
      const { earlier, later, present, isTouched } = duplicate
      const to = numberOf(entry, later) ?? (await write(fixer, entry.id, number, later))
      const within = layout.caseFolder(entry.id)
      const copy = conflictName(basename(path), fixer.now())
      if (isTouched) await createDurable(join(layout.sessions(entry.id), copy), present, { within })
      await writeDurable(path, earlier.bytes, { expect: present, within })
      const moved = (await isLatersOutput(fixer, entry.id, number, duplicate))
        ? await renameArtifacts(layout, entry.id, number, to)
        : []
      return [
        `two branches had made session ${number}: the one of ${earlier.session.started_at} has the number now, the one of ${later.session.started_at} is session ${to}`,
        ...(moved.length > 0 ? [`its artifacts are ${moved.join(', ')}`] : []),
        ...(isTouched ? [`what stood here was not what git left, and is kept as ${copy}`] : []),
        `now git add sessions/${number}.md and sessions/${to}.md of this case`,
      ].join('; ')
    })
  }
}

/** The number under which a fix that was cut short has written it already. */
function numberOf({ sessions }: CaseEntry, { session }: NumberedSession): number | undefined {
  const isLater = ({ readable, value }: RecordFile<Session | null>) =>
    readable && value?.id === session.id
  return [...sessions].find(([, record]) => isLater(record))?.[0]
}

async function write(
  { snapshot, now }: Fixer,
  id: string,
  from: number,
  { text, session }: NumberedSession,
): Promise<number> {
  const { layout, stateDir } = snapshot
  const to = await nextSessionNumber(layout, join(stateDir, 'numbers'), id)
  const renumbered = await renumberedSession(text, { from, to, time: now() })
  const read = await validSession(renumbered, id, to)
  if ('reason' in read || read.id !== session.id || read.state !== session.state) {
    const why = 'reason' in read ? read.reason : 'it would not be the same session'
    throw new AppError('would_be_a_problem', `it cannot be renumbered: ${why}; do it by hand`)
  }
  const within = layout.caseFolder(id)
  await createDurable(layout.sessionFile(id, to), Buffer.from(renumbered), { within })
  await acceptTrail(snapshot, read, renumbered)
  return to
}

/** Artifacts are not in git: those that are here belong to the session that was made in this clone. */
async function isLatersOutput(
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
