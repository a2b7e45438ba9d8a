import { withFields } from '../markdown/field-edit.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { keyLineValue, withKeyLines } from '../markdown/session-plain.ts'
import { renumberedSession } from '../markdown/session-renumbering.ts'
import { editedSession } from '../markdown/session-texts.ts'
import { readTrail } from '../markdown/trail-lines.ts'
import { type Session, serviceFields } from '../model/session.ts'
import { trueLines } from '../model/trail.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { editText } from '../workspace/text-edit.ts'
import { isSameTrail } from '../workspace/trail-guard.ts'
import { acceptTrail } from './accept-trail.ts'
import type { Mender } from './mender.ts'
import { isSealed, statedIn } from './placed-fields.ts'
import { soundSession } from './sound-session.ts'

/**
 * Puts the lines back that somebody changed in a trail, as far as this machine remembers them. Lines out of order,
 * which do not count either, stay: who wrote them is not known.
 */
export async function fixTrails(mender: Mender, entry: CaseEntry): Promise<void> {
  const { layout, isRunningHere } = mender.view
  for (const [number, { value, problems }] of entry.sessions) {
    if (
      !value ||
      isRunningHere(value.id) ||
      !problems.some((each) => each.code === 'trail_changed')
    ) {
      continue
    }
    await mender.mend(layout.sessionFile(entry.id, number), async () => {
      const edited = await edit(mender, entry.id, number, (text) => {
        const lines = trueLines(readTrail(text)?.lines.map((each) => each.line) ?? [])
        if (isSameTrail(lines, value.trail)) return text
        return editedSession(text, value, { fields: serviceFields(value) })
      })
      return edited ? 'its audit trail has the lines again that this machine wrote' : null
    })
  }
}

/**
 * Takes back a `state` that was written by hand, which moves nothing: the trail says what it is. But
 * `abandoned` is meant, and carried out by the service.
 */
export async function mendStateCopies(mender: Mender, entry: CaseEntry): Promise<void> {
  const { layout, isRunningHere } = mender.view
  for (const [number, { value, problems }] of entry.sessions) {
    if (
      !value ||
      isRunningHere(value.id) ||
      !problems.some((each) => each.code === 'state_by_hand')
    ) {
      continue
    }
    const path = layout.sessionFile(entry.id, number)
    await mender.mend(path, async () => {
      const edited = await edit(mender, entry.id, number, async (text) => {
        const inFront = statedIn(text, 'state')
        const stated = inFront ?? keyLineValue(text, 'state')
        if (stated === null || stated === 'abandoned') return text
        const set = inFront === null ? withKeyLines : withFields
        const mended = set(text, [['state', value.state]])
        const isSound = !('reason' in (await soundSession(mended, entry.id, number)))
        return isSound || !isSealed(text) ? mended : text
      })
      if (!edited) return null
      return isOurs(mender, entry.id, value)
        ? `state is ${value.state} again, as its audit trail has it`
        : `state is ${value.state} now, as the last line of its audit trail has it; this machine did not write that trail and cannot say who did`
    })
  }
}

function isOurs({ view }: Mender, caseId: string, { id }: Session): boolean {
  return view.trails.recall(caseId, id) !== null
}

/**
 * Makes a session file that was moved to another number by hand into a session of that number. Not
 * a copy of one that is there still, and no sealed one, which belongs back where it came from.
 */
export async function mendMovedSessions(mender: Mender, entry: CaseEntry): Promise<void> {
  const { layout, isRunningHere } = mender.view
  const ids = [...entry.sessions.values()].map((record) => record.value?.id)
  for (const [number, { problems }] of entry.sessions) {
    if (!problems.some((each) => each.code === 'id_mismatch')) continue
    const path = layout.sessionFile(entry.id, number)
    await mender.mend(path, async () => {
      let from = number
      let renumbered = ''
      const edited = await edit(mender, entry.id, number, async (text) => {
        from = Number(statedIn(text, 'number') ?? number)
        const session = await soundSession(text, entry.id, from)
        if (from === number || 'reason' in session || isSealed(text)) return text
        if (ids.includes(session.id) || isRunningHere(session.id)) return text
        renumbered = await renumberedSession(text, { from, to: number, time: mender.now() })
        return renumbered
      })
      const session = edited ? await soundSession(renumbered, entry.id, number) : null
      if (session && !('reason' in session)) await acceptTrail(mender.view, session, renumbered)
      return edited ? `session ${from} is session ${number} now, as the file's name says` : null
    })
  }
}

function edit(
  { view: { layout } }: Mender,
  id: string,
  number: number,
  change: (text: string) => string | Promise<string>,
): Promise<boolean> {
  const place = { maxBytes: MAX_SESSION_BYTES, within: layout.caseFolder(id) }
  return editText(layout.sessionFile(id, number), place, change)
}
