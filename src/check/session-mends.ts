import { withFields } from '../markdown/field-edit.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { renumberedSession } from '../markdown/session-renumbering.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { editText } from '../workspace/text-edit.ts'
import type { Mender } from './mender.ts'
import { isSealed, statedIn } from './placed-fields.ts'
import { soundSession } from './sound-session.ts'

/**
 * Takes back a `state` that was written by hand, which moves nothing: the trail says what it is. But
 * `abandoned` is meant, and carried out by the service.
 */
export async function mendStateCopies(mender: Mender, entry: CaseEntry): Promise<void> {
  const { layout, isHeld } = mender.view
  for (const [number, { value, problems }] of entry.sessions) {
    if (!value || isHeld(value.id) || !problems.some((each) => each.code === 'state_by_hand')) {
      continue
    }
    const path = layout.sessionFile(entry.id, number)
    await mender.mend(path, async () => {
      const edited = await edit(mender, entry.id, number, async (text) => {
        const stated = statedIn(text, 'state')
        if (stated === null || stated === 'abandoned') return text
        const mended = withFields(text, [['state', value.state]])
        const isSound = !('reason' in (await soundSession(mended, entry.id, number)))
        return isSound || !isSealed(text) ? mended : text
      })
      return edited ? `state is ${value.state} again, as its audit trail has it` : null
    })
  }
}

/**
 * Makes a session file that was moved to another number by hand into a session of that number. Not
 * a copy of one that is there still, and no sealed one, which belongs back where it came from.
 */
export async function mendMovedSessions(mender: Mender, entry: CaseEntry): Promise<void> {
  const { layout, isHeld } = mender.view
  const ids = [...entry.sessions.values()].map((record) => record.value?.id)
  for (const [number, { problems }] of entry.sessions) {
    if (!problems.some((each) => each.code === 'id_mismatch')) continue
    const path = layout.sessionFile(entry.id, number)
    await mender.mend(path, async () => {
      let from = number
      const edited = await edit(mender, entry.id, number, async (text) => {
        from = Number(statedIn(text, 'number') ?? number)
        const session = await soundSession(text, entry.id, from)
        if (from === number || 'reason' in session || isSealed(text)) return text
        if (ids.includes(session.id) || isHeld(session.id)) return text
        return renumberedSession(text, { from, to: number, time: mender.now() })
      })
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
