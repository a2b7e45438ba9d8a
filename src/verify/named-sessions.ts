/** Finds the sessions whose work is about to be committed. */

import { join, posix, relative, resolve } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { entriesIn, sessionNumbers } from '../files/folder-names.ts'
import { isWithin, realPathOf } from '../files/real-path.ts'
import { decodeUtf8, readRegular, stampOf } from '../files/safe-read.ts'
import { type GitCommandOptions, gitText, runGit } from '../git/run-git.ts'
import { MAX_CASE_BYTES, readCase } from '../markdown/case-file.ts'
import { MAX_SESSION_BYTES, readSession } from '../markdown/session-file.ts'
import type { RunningSession } from '../model/commit-trailer.ts'
import { UUID } from '../model/name-patterns.ts'
import type { Session } from '../model/session.ts'
import { type FileResult, sessionResults } from '../model/session-results.ts'
import { standingApproval } from '../model/trail.ts'
import type { Layout } from '../workspace/layout.ts'
import { isResult } from './same-file.ts'

export interface NamedSession {
  case_id: string
  /** Null if the record is hidden from the session that makes the commit. */
  case_title: string | null
  session: number
  plan_sha256: string
}

export interface NamedSessions {
  sessions: NamedSession[]
  /** Staged files that a session changed, and that are other than it left them. */
  differing: { file: string; session: number; case_title: string }[]
  /** The other staged files that no named session left so. */
  others: string[]
}

/** Work that is committed was done lately: a session that ran earlier than so many others is not looked at. */
const RECENT_CASES = 50

/**
 * Returns the approved sessions whose work is staged in the repository of the working folder: the newest that left a file
 * as it is staged, which was not committed since, and those that run now and have changed one. `env` may name the index
 * that git commits from; `running` is the session that makes the commit.
 */
export async function namedSessions(
  layout: Layout,
  top: string,
  { env, running }: { env: Record<string, string>; running: RunningSession | null },
): Promise<NamedSessions> {
  const git = { cwd: top, env }
  const memory = relative(top, layout.memoryRoot)
  const staged = await stagedFiles(git)
  const code = [...staged.keys()].filter((file) => memory.startsWith('..') || !isIn(file, memory))
  if (code.length === 0) return { sessions: [], differing: [], others: [] }
  const sessions = await recentSessions(layout, top)
  const taken = new Set<string>()
  const named: NamedSession[] = []
  const differing = new Map<string, NamedSessions['differing'][number]>()
  const isRecorded = sessions.some(
    ({ session: { case_id, number } }) =>
      case_id === running?.case_id && number === running.session,
  )
  if (running && !isRecorded) {
    const { approved_at: time, case_id, session, plan_sha256 } = running
    const files = await changedSince(code, { top, time })
    for (const file of files) taken.add(file)
    if (files.length > 0) named.push({ case_id, case_title: null, session, plan_sha256 })
  }
  for (const { session, title, folder } of sessions.sort(newestFirst)) {
    const plan = standingApproval(session.trail)
    const plan_sha256 = plan?.fields.plan_sha256
    if (!plan || typeof plan_sha256 !== 'string') continue
    const work =
      session.state === 'executing'
        ? { files: await changedSince(code, { top, time: plan.time }), changed: [] }
        : await leftBy(session, folder, { code, staged, taken, git })
    const { files } = work
    for (const file of work.changed) {
      const { number } = session
      if (!differing.has(file)) differing.set(file, { file, session: number, case_title: title })
    }
    if (files.length === 0) continue
    for (const file of files) taken.add(file)
    named.push({
      case_id: session.case_id,
      case_title: title,
      session: session.number,
      plan_sha256,
    })
  }
  const rest = code.filter((file) => !taken.has(file))
  return {
    sessions: named,
    differing: [...differing.values()].filter(({ file }) => !taken.has(file)),
    others: rest.filter((file) => !differing.has(file)),
  }
}

/** The object of each staged file; null if the commit deletes it. */
async function stagedFiles(git: GitCommandOptions): Promise<Map<string, string | null>> {
  const words = ['diff', '--cached', '--raw', '--no-abbrev', '--no-renames', '-z', '--no-ext-diff']
  return new Map(rawChanges(await gitText(words, git)))
}

/** Reads what `--raw --no-abbrev --no-renames -z` prints. */
function rawChanges(text: string): [file: string, object: string | null][] {
  const parts = text.split('\0')
  return parts.flatMap((part, index): [string, string | null][] => {
    if (!part.startsWith(':')) return []
    const object = part.split(' ')[3] ?? ''
    return [[parts[index + 1]!, /^0+$/.test(object) ? null : object]]
  })
}

/** The staged files that are as the session left them, and those that it changed and are not. */
async function leftBy(
  session: Session,
  folder: string,
  {
    code,
    staged,
    taken,
    git,
  }: {
    code: readonly string[]
    staged: ReadonlyMap<string, string | null>
    taken: ReadonlySet<string>
    git: GitCommandOptions
  },
): Promise<{ files: string[]; changed: string[] }> {
  const results = sessionResults(session)?.files ?? new Map<string, FileResult>()
  const found = { files: [] as string[], changed: [] as string[] }
  const own = code.flatMap((file) => {
    const result = results.get(folder === '' ? file : posix.relative(folder, file))
    return result && !taken.has(file) ? [{ file, result }] : []
  })
  if (own.length === 0) return found
  const since = await committedSince(session.completed_at!, git)
  for (const { file, result } of own) {
    const later = since.filter(([name]) => name === file)
    const objects = [staged.get(file)!, ...later.map(([, object]) => object)]
    const [isStaged, ...wereCommitted] = await Promise.all(
      objects.map((object) => isResult(object ?? null, result, git)),
    )
    // what is committed is the past, and the file may have become anything else since
    if (wereCommitted.includes(true)) continue
    if (isStaged) found.files.push(file)
    else found.changed.push(file)
  }
  return found
}

interface RecentSession {
  session: Session
  title: string
  /** Its working folder, relative to the top of the repository. */
  folder: string
}

/** The sessions that run or are complete, of the cases whose sessions were written last. */
async function recentSessions(layout: Layout, top: string): Promise<RecentSession[]> {
  const ids = (await entriesIn(layout.cases)).filter((name) => UUID.test(name))
  const written = await Promise.all(
    ids.map(async (id) => ({ id, at: await writtenAt(layout.sessions(id)) })),
  )
  const recent = written
    .filter(({ at }) => at > 0)
    .sort((a, b) => b.at - a.at)
    .slice(0, RECENT_CASES)
  return (await Promise.all(recent.map(({ id }) => sessionsOf(layout, id, top)))).flat()
}

/** 0 if it is not there. A write replaces a file, so it changes the time of the folder too. */
async function writtenAt(path: string): Promise<number> {
  return (await stampOf(path))?.mtimeMs ?? 0
}

async function sessionsOf(layout: Layout, id: string, top: string): Promise<RecentSession[]> {
  const text = await textAt(layout.caseFile(id), layout.caseFolder(id), MAX_CASE_BYTES)
  const created_at = new Date(0).toISOString()
  const read = text === null ? null : (await readCase(text, { id, created_at })).value
  if (!read) return []
  const folder = await folderOf(layout.root, read.workdir, top)
  if (folder === null) return []
  const found: RecentSession[] = []
  for (const number of sessionNumbers(await entriesIn(layout.sessions(id)))) {
    const path = layout.sessionFile(id, number)
    const source = await textAt(path, layout.caseFolder(id), MAX_SESSION_BYTES)
    if (source === null) continue
    const origin = { case_id: id, number, case_title: read.title, created_at }
    const session = readSession(source, origin).value
    const isDone = session?.state === 'complete' && session.completed_at !== null
    if (session && (isDone || session.state === 'executing'))
      found.push({ session, title: read.title, folder })
  }
  return found
}

/** Null if the working folder is in another repository, or missing. */
async function folderOf(root: string, workdir: string | null, top: string): Promise<string | null> {
  try {
    const folder = await realPathOf(workdir === null ? root : resolve(root, workdir))
    return isWithin(top, folder) ? relative(top, folder) : null
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) return null
    throw error
  }
}

async function textAt(path: string, within: string, maxBytes: number): Promise<string | null> {
  const read = await readRegular(path, { maxBytes, within })
  const decoded = read.ok ? decodeUtf8(read.bytes) : null
  return decoded?.ok ? decoded.text : null
}

function newestFirst(a: RecentSession, b: RecentSession): number {
  return endOf(a.session) < endOf(b.session) ? 1 : -1
}

/** One that runs comes before all that ended. */
function endOf({ completed_at }: Session): string {
  return completed_at ?? '~'
}

/** The files of the commits since this time, with what each became. */
async function committedSince(
  time: string,
  git: GitCommandOptions,
): Promise<[file: string, object: string | null][]> {
  const words = [
    'log',
    `--since=${time}`,
    '--format=',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '-z',
  ]
  const { exit, stdout } = await runGit([...words, 'HEAD', '--'], git)
  return exit === 0 ? rawChanges(stdout.toString()) : [] // no commit yet
}

/** The files that were written since this time. */
async function changedSince(
  files: readonly string[],
  { top, time }: { top: string; time: string },
): Promise<string[]> {
  const times = await Promise.all(files.map((file) => writtenAt(join(top, file))))
  return files.filter((_, index) => times[index] === 0 || times[index]! >= Date.parse(time))
}

function isIn(file: string, folder: string): boolean {
  return file === folder || file.startsWith(`${folder}/`)
}
