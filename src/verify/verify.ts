import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { mustBeCheckedOut } from '../check/left-out.ts'
import { withSnapshot } from '../check/snapshot.ts'
import { readRegular, stampOf } from '../files/safe-read.ts'
import { FIRST_PARENT, gitLog, type LoggedCommit } from '../git/log.ts'
import { findRepository } from '../git/repository.ts'
import { type GitCommandOptions, runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'
import { ALLOWED_SIGNERS } from '../model/approval-statement.ts'
import { readTrailers } from '../model/commit-trailer.ts'
import { visibleText } from '../model/visible-text.ts'
import type { FolderOptions } from '../settings/folders.ts'
import type { Layout } from '../workspace/layout.ts'
import { isRecordPath } from '../workspace/record-paths.ts'
import { type CheckedSession, type ClaimContext, checkSession } from './claim.ts'
import { fileStanding } from './commit-files.ts'
import { readMergeChanges } from './merge-changes.ts'
import { type CommitRange, chooseRange } from './range.ts'
import { readRecordHistory } from './record-history.ts'
import type {
  Claim,
  CommitResult,
  Failure,
  ResourceDescriptor,
  Verification,
  VerifiedCommit,
} from './result.ts'
import { describedProofs } from './session-statement.ts'
import { nothingIn } from './text.ts'

export interface VerifyOptions extends Pick<FolderOptions, 'root' | 'memoryRoot'> {
  range?: string | undefined
  /** A commit without a trailer fails, unless it changes nothing but the record. */
  requireTrailer?: boolean
  requireSignature?: boolean
  /** A file in the format of `allowed_signers`. Default: the one that the commit before the range has. */
  allowedSigners?: string | undefined
}

/**
 * Checks what the commits of a range claim, against the record in the files and its history. Writes nothing, and takes
 * nothing from the state of this machine: a fresh clone gives the same result. Throws an AppError if it cannot check.
 */
export async function verifyCommits(
  options: VerifyOptions,
  environment: NodeJS.ProcessEnv,
): Promise<Verification> {
  // a state folder that does not exist, and is not made
  const stateDir = join(tmpdir(), `casefile-verify-${randomUUID()}`)
  return withSnapshot({ ...options, stateDir }, environment, async (snapshot) => {
    const { root, memoryRoot } = snapshot.layout
    const repository = await findRepository(root, {})
    if ('reason' in repository) {
      throw new AppError('bad_request', `There are no commits to verify: ${repository.reason}.`)
    }
    const git = { cwd: repository.top, env: { GIT_NO_REPLACE_OBJECTS: '1' } }
    const range = await chooseRange(options.range, environment, git)
    const commits = await gitLog([FIRST_PARENT, range.range, '--'], git)
    const named = commits.flatMap(({ message }) =>
      readTrailers(message).flatMap(({ trailer }) => trailer?.case_id ?? []),
    )
    if (named.length > 0) await mustHaveRecord(snapshot.layout, named)
    if (options.requireTrailer && commits.length === 0)
      throw new AppError('bad_request', `There are ${nothingIn(visibleText(range.range))}.`)
    const sessionsOf = (id: string) => snapshot.catalog.folder(id)?.sessions ?? []
    const known = new Map(named.map((id) => [id, new Set(sessionsOf(id).map((each) => each.id))]))
    const history = await readRecordHistory(memoryRoot, root, known)
    const signers = await readSigners(options, range, { git, prefix: repository.prefix, root })
    const context: ClaimContext = {
      snapshot,
      top: repository.top,
      history,
      signers: signers.text,
      requireSignature: options.requireSignature ?? false,
    }
    const place = {
      memory: relative(repository.top, memoryRoot),
      requireTrailer: options.requireTrailer ?? false,
      merges: await readMergeChanges(commits, git),
      proofsOf: (caseId: string) => describedProofs(snapshot.catalog.folder(caseId)!, context),
      git,
    }
    const checked = createCheckedSessions(context)
    const results: VerifiedCommit[] = []
    for (const commit of commits) results.push(await verifyCommit(commit, checked, place))
    return {
      range: range.range,
      commits: results,
      notes: [
        history.gap,
        history.gap === null ? await uncommittedNote(memoryRoot, results) : null,
        isSigned(results, options) ? signers.note : null,
      ].filter((note) => note !== null),
      ok: results.every(({ result }) => result !== 'failed'),
    }
  })
}

/** Throws if the record, or a file of these cases, is not there. Another repository or branch may have it. */
async function mustHaveRecord(layout: Layout, caseIds: readonly string[]): Promise<void> {
  const { root, memoryRoot } = layout
  await mustBeCheckedOut(
    layout,
    caseIds.map((id) => `cases/${id}`),
  )
  if ((await stampOf(memoryRoot)) !== null) return
  const folder = visibleText(`${relative(root, memoryRoot) || memoryRoot}/`)
  throw new AppError(
    'not_found',
    `There is no record in ${folder}. Check it out first: its repository or branch, with all of its history. docs/verify.md has an example.`,
  )
}

/** A record that only this disk has is not what others check. */
async function uncommittedNote(
  memoryRoot: string,
  commits: readonly VerifiedCommit[],
): Promise<string | null> {
  const claims = commits.flatMap(({ claims }) => claims)
  const paths = claims.flatMap(({ trailer, session }) =>
    trailer && session ? [`cases/${trailer.case_id}/sessions/${session.number}.md`] : [],
  )
  if (paths.length === 0) return null
  const words = ['ls-tree', '-z', '--name-only', 'HEAD', '--', ...new Set(paths)]
  const { stdout } = await runGit(words, { cwd: memoryRoot })
  const committed = new Set(stdout.toString().split('\0'))
  const missing = [...new Set(paths)].filter((path) => !committed.has(path))
  if (missing.length === 0) return null
  return `${visibleText(listed(missing))} ${missing.length === 1 ? 'is' : 'are'} in no commit of HEAD: a clone cannot check this. Commit the record.`
}

/** Whether it matters which keys count. */
function isSigned(
  commits: readonly VerifiedCommit[],
  { requireSignature }: Pick<VerifyOptions, 'requireSignature'>,
): boolean {
  const isSignedClaim = ({ session }: Claim) => Boolean(session?.signature)
  return Boolean(requireSignature) || commits.some(({ claims }) => claims.some(isSignedClaim))
}

interface VerifyContext {
  /** The record's folder, relative to the top of the repository. */
  memory: string
  requireTrailer: boolean
  /** By the id of a merge. */
  merges: ReadonlyMap<string, readonly string[]>
  proofsOf: (caseId: string) => ResourceDescriptor[]
  git: GitCommandOptions
}

type CheckSession = (claim: NonNullable<Claim['trailer']>) => Promise<CheckedSession>

/** Checks each session once, however many commits name it. */
function createCheckedSessions(context: ClaimContext): CheckSession {
  const known = new Map<string, Promise<CheckedSession>>()
  return (trailer) => {
    const key = JSON.stringify(trailer)
    const checked = known.get(key) ?? checkSession(trailer, context)
    known.set(key, checked)
    return checked
  }
}

async function verifyCommit(
  commit: LoggedCommit,
  check: CheckSession,
  { memory, requireTrailer, merges, proofsOf, git }: VerifyContext,
): Promise<VerifiedCommit> {
  const files = commit.changes.map(({ path }) => path)
  const isCode = (file: string) => !isRecord(file, memory)
  const code = files.filter(isCode)
  // of a merge, what its parents did not bring
  const own = merges.get(commit.id)?.filter(isCode)
  const checked = own ?? code
  const claims: Claim[] = []
  const left = new Set<string>()
  const differing = new Map<string, number>()
  for (const { text, trailer } of readTrailers(commit.message)) {
    if (!trailer) {
      const message = `This is not exactly as Casefile writes it: "${text.slice(0, 120)}". Expected: Casefile-Session: <case id>/<number> plan=<12 digits>.`
      const failures = [{ code: 'bad_trailer' as const, message }]
      claims.push({ text, trailer, session: null, proofs: [], failures, notes: [] })
      continue
    }
    const { session, failures, notes, record } = await check(trailer)
    const proofs = session ? proofsOf(trailer.case_id) : []
    const claim: Claim = {
      text,
      trailer,
      session,
      proofs,
      failures: [...failures],
      notes: [...notes],
    }
    claims.push(claim)
    if (!session || !record) continue
    let changed = 0
    for (const file of code) {
      const standing = await fileStanding(record, commit, file, git)
      if (standing === 'left') left.add(file)
      if (standing === 'differs') differing.set(file, session.number)
      if (standing !== 'not_changed') changed++
    }
    if (code.length > 0 && changed === 0) {
      const message = `Session ${session.number} changed no file of this commit: it is another piece of work.`
      claim.failures.push({ code: 'other_files', message })
    }
    if (session.approved_at !== null && commit.authored_at < session.approved_at.slice(0, 19)) {
      claim.notes.push(
        `The commit was written at ${commit.authored_at}, before the approval at ${session.approved_at}.`,
      )
    }
  }
  const isExempt = checked.length === 0
  const notes: string[] = []
  const failures: Failure[] = []
  if (claims.some(({ session }) => session)) {
    const message = othersText(
      checked.filter((file) => !left.has(file)),
      differing,
    )
    if (message !== null && requireTrailer) failures.push({ code: 'not_from_session', message })
    else if (message !== null) notes.push(message)
  }
  if (claims.length === 0 && !isExempt) {
    const merged = own && `This merge changes ${listed(own)} itself`
    if (requireTrailer) {
      const message = merged ? `${merged}, and names no session.` : 'The commit names no session.'
      failures.push({ code: 'no_claim', message })
    } else if (merged) notes.push(`${merged}.`)
  }
  const isFailed = failures.length > 0 || claims.some((claim) => claim.failures.length > 0)
  return {
    commit: commit.id,
    subject: commit.message.split('\n')[0] ?? '',
    author: commit.author,
    authored_at: commit.authored_at,
    result: isFailed ? 'failed' : resultOf(claims, isExempt),
    claims,
    failures,
    notes,
  }
}

function resultOf(claims: readonly Claim[], isExempt: boolean): CommitResult {
  if (claims.length > 0) return 'passed'
  return isExempt ? 'exempt' : 'no_claim'
}

function isRecord(file: string, memory: string): boolean {
  const isBelow = memory !== '' && !memory.startsWith('..') && file.startsWith(`${memory}/`)
  return isBelow && isRecordPath(file.slice(memory.length + 1))
}

/** Names the files of a commit that no session of it left so; null if there are none. */
function othersText(
  files: readonly string[],
  differing: ReadonlyMap<string, number>,
): string | null {
  const changed = files.filter((file) => differing.has(file))
  const others = files.filter((file) => !differing.has(file))
  const numbers = [...new Set(changed.map((file) => differing.get(file)!))]
  const parts = [
    ...(changed.length > 0
      ? [`Not as session ${numbers.join(', ')} left it: ${listed(changed)}.`]
      : []),
    ...(others.length > 0 ? [`No session of this commit changed ${listed(others)}.`] : []),
  ]
  return parts.length > 0 ? parts.join(' ') : null
}

const MAX_LISTED = 5

function listed(files: readonly string[]): string {
  const more = files.length - MAX_LISTED
  return files.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

interface Signers {
  text: string
  note: string | null
}

const MAX_SIGNERS_BYTES = 1024 * 1024

/** The keys of the commit before the range, so that a pull request cannot add its author's own. */
async function readSigners(
  { allowedSigners }: VerifyOptions,
  { base }: CommitRange,
  { git, prefix, root }: { git: GitCommandOptions; prefix: string; root: string },
): Promise<Signers> {
  if (allowedSigners === undefined && base !== null) {
    const path = prefix === '' ? ALLOWED_SIGNERS : `${prefix}/${ALLOWED_SIGNERS}`
    const { exit, stdout } = await runGit(['cat-file', 'blob', `${base}:${path}`], git)
    const note =
      exit === 0
        ? null
        : `Commit ${base.slice(0, 10)}, before the range, has no ${ALLOWED_SIGNERS}: no key counts. Commit it first, or name a file with --allowed-signers.`
    return { text: exit === 0 ? stdout.toString('latin1') : '', note }
  }
  const path = allowedSigners ?? join(root, ALLOWED_SIGNERS)
  const read = await readRegular(path, { maxBytes: MAX_SIGNERS_BYTES })
  if (read.ok) return { text: read.bytes.toString('latin1'), note: null }
  if (allowedSigners !== undefined) {
    throw new AppError('bad_request', `${allowedSigners} cannot be read: ${read.detail}.`)
  }
  return { text: '', note: null }
}
