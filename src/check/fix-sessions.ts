import { withFields } from '../markdown/field-edit.ts'
import { MAX_SESSION_BYTES } from '../markdown/session-file.ts'
import { keyLineValue, withKeyLines } from '../markdown/session-plain.ts'
import { renumberedSession } from '../markdown/session-renumbering.ts'
import { editedSession } from '../markdown/session-texts.ts'
import { readTrail } from '../markdown/trail.ts'
import { validSession } from '../markdown/valid-session.ts'
import { serviceFields } from '../model/session.ts'
import { trueLines } from '../model/trail.ts'
import { eventsOfLines } from '../model/trail-lines.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { isSameTrail } from '../workspace/trail-guard.ts'
import { isSealed, statedIn } from './fix-path-fields.ts'
import type { Fixer } from './fixer.ts'
import { recordRenumbering } from './record-renumbering.ts'
import { editText } from './text-edit.ts'

/**
 * Restores audit trail lines that someone changed, if this machine remembers them. Lines out of order are ignored
 * by the service too, but stay, because their author is unknown.
 */
export async function fixTrails(fixer: Fixer, entry: CaseEntry): Promise<void> {
  const { layout, isRunningHere } = fixer.snapshot
  for (const [number, { value, problems }] of entry.sessions) {
    if (
      !value ||
      isRunningHere(value.id) ||
      !problems.some((each) => each.code === 'trail_changed')
    ) {
      continue
    }
    await fixer.fix(layout.sessionFile(entry.id, number), async () => {
      const edited = await edit(fixer, entry.id, number, (text) => {
        const lines = trueLines(readTrail(text)?.lines.map((each) => each.line) ?? [])
        if (isSameTrail(eventsOfLines(lines), value.trail)) return text
        return editedSession(text, value, { fields: serviceFields(value) })
      })
      return edited ? 'restored the audit trail lines that this machine wrote' : null
    })
  }
}

/**
 * Resets a `state` that was edited by hand, which has no effect: the audit trail decides. `abandoned` is a request
 * and stays; the service carries it out.
 */
export async function fixStateCopies(fixer: Fixer, entry: CaseEntry): Promise<void> {
  const { layout, isRunningHere } = fixer.snapshot
  for (const [number, { value, problems }] of entry.sessions) {
    if (
      !value ||
      isRunningHere(value.id) ||
      !problems.some((each) => each.code === 'state_by_hand')
    ) {
      continue
    }
    const path = layout.sessionFile(entry.id, number)
    await fixer.fix(path, async () => {
      const edited = await edit(fixer, entry.id, number, async (text) => {
        const inFront = statedIn(text, 'state')
        const stated = inFront ?? keyLineValue(text, 'state')
        if (stated === null || stated === 'abandoned') return text
        const set = inFront === null ? withKeyLines : withFields
        const fixed = set(text, [['state', value.state]])
        const isValid = !('reason' in (await validSession(fixed, entry.id, number)))
        return isValid || !isSealed(text) ? fixed : text
      })
      return edited ? `state is now ${value.state}, as in the last line of its audit trail` : null
    })
  }
}

/**
 * Renumbers a session file that was moved to another number by hand. Skips copies of an existing session, and
 * sealed sessions, which should be moved back instead.
 */
export async function fixMovedSessions(fixer: Fixer, entry: CaseEntry): Promise<void> {
  const { layout, isRunningHere } = fixer.snapshot
  const ids = [...entry.sessions.values()].map((record) => record.value?.id)
  for (const [number, { problems }] of entry.sessions) {
    if (!problems.some((each) => each.code === 'id_mismatch')) continue
    const path = layout.sessionFile(entry.id, number)
    await fixer.fix(path, async () => {
      let from = number
      let renumbered = ''
      const edited = await edit(fixer, entry.id, number, async (text) => {
        from = Number(statedIn(text, 'number') ?? number)
        const session = await validSession(text, entry.id, from)
        if (from === number || 'reason' in session || isSealed(text)) return text
        if (ids.includes(session.id) || isRunningHere(session.id)) return text
        renumbered = await renumberedSession(text, { from, to: number, time: fixer.now() })
        return renumbered
      })
      const session = edited ? await validSession(renumbered, entry.id, number) : null
      if (session && !('reason' in session)) {
        await recordRenumbering(fixer, entry.id, session, { from, to: number })
      }
      return edited ? `session ${from} is now session ${number}, as in the file's name` : null
    })
  }
}

function edit(
  { snapshot: { layout } }: Fixer,
  id: string,
  number: number,
  change: (text: string) => string | Promise<string>,
): Promise<boolean> {
  const place = { maxBytes: MAX_SESSION_BYTES, within: layout.caseFolder(id) }
  return editText(layout.sessionFile(id, number), place, change)
}
