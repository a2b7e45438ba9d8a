import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withSnapshot } from '../check/snapshot.ts'
import { gitLog, type LoggedCommit } from '../git/log.ts'
import { findRepository } from '../git/repository.ts'
import { runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { findCasesByName } from '../model/case-names.ts'
import { readTrailers } from '../model/commit-trailer.ts'
import { isBreaking } from '../model/problem.ts'
import { byCreation } from '../model/proof.ts'
import { isSealed, type Session } from '../model/session.ts'
import { visibleText } from '../model/visible-text.ts'
import type { FolderOptions } from '../settings/folders.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import { approvedHash, sessionFor } from './claim.ts'
import { sessionStatement } from './session-statement.ts'
import type { Statement } from './statement.ts'

export interface ExportOptions extends Pick<FolderOptions, 'root' | 'memoryRoot'> {
  /** Ids, starts of ids or parts of titles; empty for all cases. */
  cases: readonly string[]
}

/** Sentences. */
interface Exported {
  /** What could not be exported. */
  missing: string[]
  /** Where there was nothing to export. */
  empty: string[]
}

/**
 * Passes an in-toto statement for each sealed session to `print`, until that resolves to false: the oldest case first,
 * its sessions by number. Reads only files and git. Throws an AppError for a name that fits no case or several.
 */
export async function exportStatements(
  { cases, ...places }: ExportOptions,
  print: (statement: Statement) => Promise<boolean>,
): Promise<Exported> {
  // a state folder that does not exist, and is not created
  const stateDir = join(tmpdir(), `casefile-export-${randomUUID()}`)
  return withSnapshot({ ...places, stateDir }, process.env, async (snapshot) => {
    const { catalog, layout } = snapshot
    const missing: string[] = []
    const empty: string[] = []
    const folders = chooseCases(catalog, cases)
    const { top, commits, gap } = await readNamingCommits(layout.root)
    const context = { snapshot, top: top ?? layout.root }
    if (gap !== null) missing.push(gap)
    for (const contents of folders) {
      const { id } = contents.case
      const { file, sessions } = catalog.entry(id)!
      if (file.problems.some(isBreaking)) {
        missing.push(`case.md of case ${id} cannot be read: run casefile doctor --check.`)
        continue
      }
      const broken = [...sessions].filter(([, { problems }]) => problems.some(isBreaking))
      for (const [number] of broken)
        missing.push(`Session ${number} of case ${id} cannot be read: run casefile doctor --check.`)
      const sealed = contents.sessions.filter(isSealed)
      if (sealed.length === 0 && cases.length > 0)
        empty.push(`"${contents.case.title}" has no sealed session: attach proof to one first.`)
      for (const session of sealed) {
        if (broken.some(([number]) => number === session.number)) continue
        const naming = commits
          .filter(({ message }) => isNamed(session, contents, message))
          .map((commit) => commit.id)
        const statement = await sessionStatement(contents, session, naming, context)
        if (!statement) missing.push(`Session ${session.number} of case ${id} cannot be read.`)
        else if (!(await print(statement))) return { missing, empty }
      }
    }
    if (cases.length === 0 && !folders.some(({ sessions }) => sessions.some(isSealed)))
      empty.push('No session is sealed: attach proof to one first.')
    return { missing, empty }
  })
}

function chooseCases(catalog: Catalog, words: readonly string[]): CaseContents[] {
  const all = catalog.ids().map((id) => catalog.folder(id)!)
  const known = all.map(({ case: { id, title } }) => ({ id, title }))
  const chosen = new Set(words.flatMap((word) => findOne(known, word)))
  const folders = words.length === 0 ? all : all.filter((contents) => chosen.has(contents.case.id))
  return folders.toSorted((a, b) => byCreation(a.case, b.case))
}

function findOne(known: readonly { id: string; title: string }[], word: string): string {
  const fitting = findCasesByName(known, word)
  if (fitting.length === 1) return fitting[0]!.id
  const name = visibleText(word)
  const message =
    fitting.length === 0
      ? `No case matches "${name}". Use an id, the start of an id, or part of a title.`
      : `"${name}" matches ${fitting.length} cases. Use more of the id or title.`
  throw new AppError('not_found', message)
}

/** The commits reachable from HEAD that name a session, oldest first. */
async function readNamingCommits(root: string): Promise<{
  top: string | null
  commits: LoggedCommit[]
  gap: string | null
}> {
  const repository = await findRepository(root, {})
  if ('reason' in repository) return { top: null, commits: [], gap: null }
  const { top } = repository
  const git = { cwd: top, env: { GIT_NO_REPLACE_OBJECTS: '1' } }
  const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], git)
  if (head.exit !== 0) return { top, commits: [], gap: null }
  const named = ['-i', '--fixed-strings', '--grep=Casefile-Session:']
  const commits = await gitLog([...named, '--reverse', 'HEAD', '--'], git)
  const shallow = await runGit(['rev-parse', '--is-shallow-repository'], git)
  const isShallow = shallow.stdout.toString().trim() === 'true'
  return {
    top,
    commits,
    gap: isShallow
      ? 'This clone is shallow, so commits that name a session may be missing. Fetch all of the history.'
      : null,
  }
}

/** Whether a commit message names this session with the plan that was approved. */
function isNamed(session: Session, contents: CaseContents, message: string): boolean {
  return readTrailers(message).some(
    ({ trailer }) =>
      trailer?.case_id === session.case_id &&
      approvedHash(session)?.startsWith(trailer.plan) === true &&
      sessionFor(trailer, contents) === session,
  )
}
