import { AppError } from '../../model/app-error.ts'
import type { CaseContents } from '../../model/case-contents.ts'
import { UUID } from '../../model/name-patterns.ts'
import type { Session } from '../../model/session.ts'

/** A session by its number, its id, or as `latest`. */
export function findSession(contents: CaseContents, name: string): Session {
  const { sessions } = contents
  const found =
    name === 'latest'
      ? sessions.toSorted((a, b) => a.number - b.number).at(-1)
      : UUID.test(name)
        ? sessions.find(({ id }) => id === name)
        : sessions.find(({ number }) => String(number) === name)
  if (found) return found
  throw new AppError(
    'not_found',
    `Case ${contents.case.id} has no session ${JSON.stringify(name.slice(0, 40).toWellFormed())}.`,
  )
}
