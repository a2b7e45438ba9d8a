import { basename, join } from 'node:path'
import { createDurable, writeDurable } from '../files/durable-write.ts'
import { renumberedSession } from '../markdown/session-renumbering.ts'
import { Refusal } from '../model/refusal.ts'
import type { Session } from '../model/session.ts'
import { renameArtifacts } from '../runners/output/artifact-renaming.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { conflictName } from '../workspace/late-saves/conflict-copy.ts'
import type { RecordFile } from '../workspace/record.ts'
import { nextSessionNumber } from '../workspace/session-number.ts'
import { acceptTrail } from './accept-trail.ts'
import { isOutputOf } from './artifact-owner.ts'
import type { Mender } from './mender.ts'
import { soundSession } from './sound-session.ts'
import { findTwins, type TwinSession } from './twin-sessions.ts'

/**
 * Takes two sessions that two branches made under one number apart: the earlier one keeps the number,
 * byte for byte, the later one gets the next that is free. The later one is written first, so that a
 * run that is cut short loses neither, and the next one finds it.
 */
export async function mendTwins(mender: Mender, entry: CaseEntry): Promise<void> {
  const { layout } = mender.view
  const conflicts = [...entry.sessions].filter(([, record]) => !record.readable)
  for (const [number] of conflicts) {
    const path = layout.sessionFile(entry.id, number)
    await mender.mend(path, async () => {
      const twins = await findTwins(mender.view, entry.id, number)
      if (!twins || 'reason' in twins) return null
      const { earlier, later, present, isTouched } = twins
      const to = numberOf(entry, later) ?? (await write(mender, entry.id, number, later))
      const within = layout.caseFolder(entry.id)
      const copy = conflictName(basename(path), mender.now())
      if (isTouched) await createDurable(join(layout.sessions(entry.id), copy), present, { within })
      await writeDurable(path, earlier.bytes, { expect: present, within })
      const moved = (await isLatersOutput(mender, entry.id, number, twins))
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

/** The number under which a mend that was cut short has written it already. */
function numberOf({ sessions }: CaseEntry, { session }: TwinSession): number | undefined {
  const isLater = ({ readable, value }: RecordFile<Session | null>) =>
    readable && value?.id === session.id
  return [...sessions].find(([, record]) => isLater(record))?.[0]
}

async function write(
  { view, now }: Mender,
  id: string,
  from: number,
  { text, session }: TwinSession,
): Promise<number> {
  const { layout, stateDir } = view
  const to = await nextSessionNumber(layout, join(stateDir, 'numbers'), id)
  const renumbered = await renumberedSession(text, { from, to, time: now() })
  const read = await soundSession(renumbered, id, to)
  if ('reason' in read || read.id !== session.id || read.state !== session.state) {
    const why = 'reason' in read ? read.reason : 'it would not be the same session'
    throw new Refusal('would_be_a_problem', `it cannot be renumbered: ${why}; do it by hand`)
  }
  const within = layout.caseFolder(id)
  await createDurable(layout.sessionFile(id, to), Buffer.from(renumbered), { within })
  await acceptTrail(view, read, renumbered)
  return to
}

/** Artifacts are not in git: those that are here belong to the session that was made in this clone. */
async function isLatersOutput(
  { view: { layout } }: Mender,
  id: string,
  number: number,
  { earlier, later }: { earlier: TwinSession; later: TwinSession },
): Promise<boolean> {
  const isEarliers = await isOutputOf(layout, id, number, earlier.session)
  const isLaters = await isOutputOf(layout, id, number, later.session)
  if ((isEarliers === true) === (isLaters === true)) return later.isOwn
  return isLaters === true
}
