import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { findRepository } from '../git/repository.ts'
import { AppError } from '../model/app-error.ts'
import { namesText } from '../model/before-run-text.ts'
import { runningSession, trailerText } from '../model/commit-trailer.ts'
import { type FolderOptions, findFolders } from '../settings/folders.ts'
import { layoutOf } from '../workspace/layout.ts'
import { isOfOthers, nameInMessage } from './commit-message.ts'
import { type NamedSessions, namedSessions } from './named-sessions.ts'

export interface TrailerOptions extends Pick<FolderOptions, 'root' | 'memoryRoot'> {
  /** The file with the message of a commit that git is making. */
  message?: string | undefined
  /** Print the sessions as JSON. */
  json?: boolean
}

/**
 * `casefile trailer`: prints the trailers for what is staged, or writes them into a message. As the hook of a commit it
 * never stops the commit, so it says what failed and exits with 0.
 */
export async function trailer(
  { message, json, ...places }: TrailerOptions,
  environment: NodeJS.ProcessEnv,
  { print, warn }: { print: (text: string) => void; warn: (line: string) => void },
): Promise<number> {
  try {
    const { root, memoryRoot } = await findFolders(places, environment)
    const repository = await findRepository(root, {})
    if ('reason' in repository)
      throw new AppError('bad_request', `There is nothing to commit: ${repository.reason}.`)
    // `git commit -a` and `git commit <file>` commit from an index of their own
    const env: Record<string, string> = {}
    if (environment.GIT_INDEX_FILE) env.GIT_INDEX_FILE = environment.GIT_INDEX_FILE
    const git = { cwd: repository.top, env }
    if (message !== undefined && (await isOfOthers(git))) return 0
    const found = await namedSessions(layoutOf(root, memoryRoot), repository.top, {
      env,
      running: runningSession(environment),
    })
    const { sessions } = found
    if (message === undefined) {
      if (!json) warnOfOthers(found, warn)
      if (json) print(`${JSON.stringify(sessions, null, 2)}\n`)
      else for (const session of sessions) print(`${trailerText(session)}\n`)
      return 0
    }
    for (const { case_id, case_title, session } of await nameInMessage(
      resolve(message),
      sessions,
      git,
    ))
      warn(`this commit names session ${session} of ${case_title ? `"${case_title}"` : case_id}`)
    warnOfOthers(found, warn)
    return 0
  } catch (error) {
    const why = error instanceof AppError ? error.message : inspect(error)
    warn(message === undefined ? why : `the commit names no session: ${why}`)
    return message === undefined ? 1 : 0
  }
}

/** Says which files no trailer speaks for, if sessions have to do with the commit at all. */
function warnOfOthers(
  { sessions, differing, others }: NamedSessions,
  warn: (line: string) => void,
): void {
  for (const { file, session, case_title } of differing.slice(0, MAX_NAMED))
    warn(`${file} is not as session ${session} of "${case_title}" left it`)
  if (sessions.length > 0 && others.length > 0)
    warn(`not from a session: ${namesText(others.slice(0, MAX_NAMED), others.length)}`)
}

const MAX_NAMED = 10
