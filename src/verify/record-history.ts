import { decodeUtf8 } from '../files/safe-read.ts'
import { readBlobs } from '../git/contents.ts'
import { EACH_PARENT, gitLog } from '../git/log.ts'
import { type GitCommandOptions, runGit } from '../git/run-git.ts'
import { readTrail } from '../markdown/trail.ts'
import { UUID } from '../model/name-patterns.ts'
import { type FileLine, trueLines } from '../model/trail.ts'

/** What a file of a case once was. */
export interface FileVersion {
  /** The folder of its case, which is the case's id. */
  caseId: string
  /** Relative to the case's folder, such as `sessions/2.md`. */
  path: string
  /** The newest commit that wrote it. */
  commit: string
  bytes: Buffer
}

/** A session as it once was. */
export interface SessionVersion extends Pick<FileVersion, 'caseId' | 'commit'> {
  id: string
  number: number
  text: string
  /** The lines of its trail that count. */
  lines: FileLine[]
}

export interface RecordHistory {
  /** The files of the cases; newest first. */
  files: FileVersion[]
  /** The sessions among them, and those that lay in the folder of another case and have the id of one of these. */
  sessions: SessionVersion[]
  /** Why the history is not complete, as a sentence; null if it is. */
  gap: string | null
}

/** Wherever the record lay in its repository: a folder that is moved takes its history along. */
const ANYWHERE = ['sessions/*.md', 'sessions/*.approval', 'proof/*.md'].map(
  (name) => `:(top,glob)**/${name}`,
)
/** Git compares whole trees for this, which takes about a minute for 200,000 commits. */
const MAX_LOG_MS = 10 * 60_000
const RECORDED = /(?:^|\/)([^/]+)\/((?:sessions|proof)\/[^/]+)$/

/**
 * Reads every version of the sessions, approvals and proofs that the repositories of these folders have of the cases,
 * under any path. `known` has the ids of the cases, and those of their sessions.
 */
export async function readRecordHistory(
  memoryRoot: string,
  root: string,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<RecordHistory> {
  if (known.size === 0) return { files: [], sessions: [], gap: null }
  const [record, code] = await Promise.all([memoryRoot, root].map(repositoryOf))
  const places = new Map([code, record].flatMap((each) => (each ? [[each.top, each]] : [])))
  const files: FileVersion[] = []
  let isPartial = [...places.values()].some(({ isShallow }) => isShallow)
  for (const { top } of places.values()) {
    const written = await versionsIn(top, known)
    const found = await contentsOf(top, written)
    // a partial clone does not have the contents of old files
    if (written.some(({ object }) => !found.has(object))) isPartial = true
    files.push(...versionsOf(written, found))
  }
  const ids = new Set([...known.values()].flatMap((sessions) => [...sessions]))
  const sessions = files
    .flatMap((version) => sessionIn(version) ?? [])
    .filter(({ caseId, id }) => known.has(caseId) || ids.has(id))
  return {
    files: files.filter(({ caseId }) => known.has(caseId)),
    sessions,
    gap: !record
      ? 'The record is in no commit, so it was not compared with its history.'
      : isPartial
        ? 'This clone is shallow or partial, so the record was compared only with the history that is here. Fetch all of it.'
        : null,
  }
}

/** Null without a commit. */
async function repositoryOf(cwd: string): Promise<{ top: string; isShallow: boolean } | null> {
  const questions = [['--is-shallow-repository', 'HEAD'], ['--show-toplevel']]
  const [head, top] = await Promise.all(
    questions.map((words) => runGit(['rev-parse', ...words], { cwd })),
  )
  if (head?.exit !== 0 || top?.exit !== 0) return null
  // only the last line end, as a folder name may end with one
  return {
    top: top.stdout.toString().replace(/\n$/, ''),
    isShallow: head.stdout.toString().startsWith('true'),
  }
}

interface Written extends Omit<FileVersion, 'bytes'> {
  /** From the top of the repository. */
  place: string
  object: string
  isNew: boolean
}

async function versionsIn(
  top: string,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Written[]> {
  const env = { GIT_NO_REPLACE_OBJECTS: '1' }
  const git: GitCommandOptions = { cwd: top, env, timeoutMs: MAX_LOG_MS }
  const log = await gitLog(['--full-history', EACH_PARENT, 'HEAD', '--', ...ANYWHERE], git)
  const all = log.flatMap(({ id: commit, changes }) =>
    changes.flatMap(({ path: place, object, isNew }): Written[] => {
      const [, caseId, path] = RECORDED.exec(place) ?? []
      return caseId && path && object ? [{ caseId, path, commit, place, object, isNew }] : []
    }),
  )
  const own = all.filter(({ caseId }) => known.has(caseId))
  return [...own, ...(await elsewhere(top, all, known))]
}

/**
 * The versions of files in other cases' folders that began as one of these sessions. The id of a session is in its
 * first version, so only that is read of each file.
 */
async function elsewhere(
  top: string,
  all: readonly Written[],
  known: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Written[]> {
  const ids = new Set([...known.values()].flatMap((sessions) => [...sessions]))
  const others = all.filter(
    ({ caseId, path }) => !known.has(caseId) && UUID.test(caseId) && SESSION_FILE.test(path),
  )
  const first = others.filter(({ isNew }) => isNew)
  const objects = await contentsOf(top, first)
  const places = new Set<string>()
  for (const { object, place } of first) {
    const id = idIn(objects.get(object)?.toString() ?? '')
    if (id !== null && ids.has(id)) places.add(place)
  }
  return others.filter(({ place }) => places.has(place))
}

function contentsOf(top: string, written: readonly Written[]): Promise<Map<string, Buffer>> {
  return readBlobs(
    top,
    written.map(({ object }) => object),
  )
}

function versionsOf(
  written: readonly Written[],
  contents: ReadonlyMap<string, Buffer>,
): FileVersion[] {
  const seen = new Set<string>()
  return written.flatMap(({ caseId, path, commit, object }) => {
    const key = `${caseId} ${path} ${object}`
    const bytes = contents.get(object)
    if (!bytes || seen.has(key)) return []
    seen.add(key)
    return [{ caseId, path, commit, bytes }]
  })
}

const SESSION_FILE = /^sessions\/(\d+)\.md$/

/** Null if the file was no session. */
function sessionIn({ caseId, path, commit, bytes }: FileVersion): SessionVersion | null {
  const number = Number(SESSION_FILE.exec(path)?.[1])
  const decoded = decodeUtf8(bytes)
  if (!Number.isInteger(number) || !decoded.ok) return null
  const { text } = decoded
  const id = idIn(text)
  const lines = trueLines(readTrail(text)?.lines.map(({ line }) => line) ?? [])
  return id === null ? null : { caseId, commit, id, number, text, lines }
}

/** The line that created the session has its id. */
function idIn(text: string): string | null {
  return /^1\. \S+ session_created .*\bsession_id=([0-9a-f-]{36})\b/m.exec(text)?.[1] ?? null
}
