/** Chooses the number of a new session. */

import { entriesIn } from '../files/folder-names.ts'
import { AppError } from '../model/app-error.ts'
import { SESSION_FILE } from '../model/name-patterns.ts'
import type { Layout } from './layout.ts'

/**
 * Returns the number of a case's next session: one more than the highest number of a session file, an artifact or
 * the `remembered` one, so that no number is used twice. Throws `already_exists` if the numbers are used up.
 */
export async function nextSessionNumber(
  layout: Layout,
  remembered: number,
  id: string,
): Promise<number> {
  const files = (await entriesIn(layout.sessions(id))).map((name) => SESSION_FILE.exec(name)?.[1])
  const artifacts = (await entriesIn(layout.artifacts(id))).map(
    (name) => /^([1-9]\d{0,5})-/.exec(name)?.[1],
  )
  const known = [...files, ...artifacts].map((number) => Number(number ?? 0))
  const last = Math.max(0, ...known, remembered)
  if (SESSION_FILE.test(`${last + 1}.md`)) return last + 1
  throw new AppError(
    'already_exists',
    `The case has a session or an artifact number ${last}, and numbers end at 999999. Move the files with that number (sessions/${last}.md, artifacts/${last}-…) out of the case's folder, or create a new case.`,
  )
}
