import { decodeUtf8 } from '../files/safe-read.ts'
import { readBlobs } from '../git/contents.ts'
import { gitFailed } from '../git/git-error.ts'
import { gitIdentity } from '../git/identity.ts'
import { readCase } from '../markdown/case-file.ts'
import { counted } from '../model/amounts.ts'
import { oneLine } from '../model/one-line.ts'
import { isShared, type MemoryGit } from './memory-git.ts'
import { SyncStop, saidBy } from './sync-stop.ts'
import { below, copyIndex, emptyTree, type TreeChange, treeChanges, withIndex } from './trees.ts'

export interface MemoryCommit {
  /** The commit; HEAD if nothing was to be committed. Null in a repository without commits that has no files. */
  commit: string | null
  changes: TreeChange[]
  cases: CaseName[]
}

export interface CaseName {
  id: string
  title: string
}

interface CommitOptions {
  /** Make the commit, but do not move the branch. */
  dryRun: boolean
  /** Throws if these changes must not be shared. */
  inspect(changes: readonly TreeChange[]): Promise<void>
}

const ATTEMPTS = 5

/**
 * Commits all that differs from HEAD in the record, and nothing else. The user's hooks do not run: this checks what
 * `casefile init --hook` checks. If `inspect` throws, nothing has changed.
 */
export async function commitMemory(
  git: MemoryGit,
  { dryRun, inspect }: CommitOptions,
): Promise<MemoryCommit> {
  const head = await git.find('HEAD')
  const before = head ?? (await emptyTree(git))
  for (let attempt = 1; ; attempt++) {
    const tree = await withIndex(git, (env, path) => addedTree(git, { env, path, head }))
    const changes = await treeChanges(git, [before, tree], git.prefix)
    if (changes.length === 0) return { commit: head, changes, cases: [] }
    await inspect(changes)
    const cases = await casesIn(git, tree, changes)
    // staged first: killed after this, the next commit has the same
    if (!dryRun) await add(git, {})
    const staged = dryRun ? tree : await stagedTree(git, head)
    if (staged === tree) {
      const commit = await makeCommit(git, {
        tree,
        parents: head === null ? [] : [head],
        message: messageOf(cases, changes.length),
      })
      if (!dryRun) await moveBranch(git, commit, head)
      return { commit, changes, cases }
    }
    if (attempt === ATTEMPTS) throw filesChanging()
  }
}

export function filesChanging(): SyncStop {
  return new SyncStop(
    'files_changing',
    'Files of the record are being saved all the time. Run it again when they are quiet.',
  )
}

/** The tree of HEAD with the record as it is on the disk. */
async function addedTree(
  git: MemoryGit,
  { env, path, head }: { env: { GIT_INDEX_FILE: string }; path: string; head: string | null },
): Promise<string> {
  if (git.prefix !== '' && head !== null) await git.text(['read-tree', head], { env })
  else await copyIndex(git, path)
  await add(git, env)
  return (await git.text(['write-tree'], { env })).trim()
}

/** The tree of a commit of what is staged of the record. */
async function stagedTree(git: MemoryGit, head: string | null): Promise<string> {
  if (git.prefix === '') return (await git.text(['write-tree'])).trim()
  return withIndex(git, (env, path) => addedTree(git, { env, path, head }))
}

async function add(git: MemoryGit, env: Record<string, string>): Promise<void> {
  const options = ['-c', 'advice.addEmbeddedRepo=false']
  // the service may just be making a file or folder
  let args = [...options, 'add', '--all', '--', '.', ':(top,exclude,glob)**/.casefile-*']
  let input = ''
  if (git.prefix !== '') {
    const { shared } = await changedFiles(git, env)
    if (shared.length === 0) return
    const fromInput = ['--pathspec-from-file=-', '--pathspec-file-nul']
    args = [...options, '--literal-pathspecs', 'add', '--all', ...fromInput]
    input = shared.join('\0')
  }
  const { exit, stderr } = await git.run(args, { env, input })
  if (exit === 0) return
  if (/did not match any files/.test(stderr)) throw filesChanging()
  throw isLocked(stderr) ? gitBusy() : commitFailed('add the files', stderr)
}

/** What differs from the index below the memory root. */
export async function changedFiles(
  git: MemoryGit,
  env: Record<string, string> = {},
): Promise<{ shared: string[]; others: string[] }> {
  const which = ['--modified', '--deleted', '--others', '--exclude-standard']
  const listed = await git.text(['ls-files', '-z', ...which, ...below(git.prefix)], { env })
  const names = [...new Set(listed.split('\0'))].filter((name) => name !== '')
  return {
    shared: names.filter((name) => isShared(git, name)),
    others: names.filter((name) => !isShared(git, name)),
  }
}

function commitFailed(what: string, stderr: string): SyncStop {
  return new SyncStop(
    'commit_failed',
    `Git could not ${what}: ${saidBy(stderr)}. When git add and git commit work here, run it again.`,
  )
}

function isLocked(stderr: string): boolean {
  return /\.lock'?: File exists|Unable to create '.*\.lock'/.test(stderr)
}

/** Another git works in the repository, or was killed. */
export function gitBusy(): SyncStop {
  return new SyncStop(
    'git_busy',
    'Another git works in this repository: its index.lock is there. Try again when it has finished. If none runs, one was killed: remove that file.',
  )
}

interface NewCommit {
  tree: string
  parents: readonly string[]
  message: string
}

export async function makeCommit(git: MemoryGit, commit: NewCommit): Promise<string> {
  const { tree, parents, message } = commit
  const asked = await git.run(['config', '--type=bool', '--get', 'commit.gpgSign'])
  const isSigned = asked.stdout.toString().trim() === 'true'
  const args = [
    'commit-tree',
    ...(isSigned ? ['-S'] : []),
    ...parents.flatMap((parent) => ['-p', parent]),
    tree,
  ]
  const env = await gitIdentity(git.top)
  const { exit, stdout, stderr } = await git.run(args, { env, input: message, isRemote: true })
  if (exit === 0) return stdout.toString().trim()
  throw commitFailed(isSigned ? 'sign the commit, as commit.gpgSign says' : 'commit', stderr)
}

/** Moves the branch, unless it was moved since. */
export async function moveBranch(git: MemoryGit, to: string, from: string | null): Promise<void> {
  const was = from ?? '0'.repeat(to.length)
  const { exit, stderr } = await git.run(['update-ref', '-m', 'casefile sync', 'HEAD', to, was])
  if (exit === 0) return
  if (/cannot lock ref/.test(stderr)) throw filesChanging()
  throw gitFailed('update-ref', stderr)
}

const CASE_PATH = /(?:^|\/)cases\/([0-9a-f-]{36})\//

/** The cases that the changes belong to, with the titles that they have in a tree or commit. */
export async function casesIn(
  git: MemoryGit,
  tree: string,
  changes: readonly TreeChange[],
): Promise<CaseName[]> {
  const found = changes.flatMap(({ path }) => CASE_PATH.exec(path)?.[1] ?? [])
  const ids = [...new Set(found)].sort()
  const nameOf = (id: string) => `${tree}:${git.prefix}cases/${id}/case.md`
  const files = await readBlobs(git.top, ids.map(nameOf))
  const cases: CaseName[] = []
  for (const id of ids) {
    const bytes = files.get(nameOf(id))
    const decoded = bytes && decodeUtf8(bytes)
    const read = decoded?.ok
      ? await readCase(decoded.text, { id, created_at: new Date(0).toISOString() })
      : null
    cases.push({ id, title: read?.value?.title ?? (bytes ? '(unreadable)' : '(deleted)') })
  }
  return cases
}

const MAX_NAMED = 50

function messageOf(cases: readonly CaseName[], files: number): string {
  const [first] = cases
  const more = cases.length > 1 ? ` and ${counted(cases.length - 1, 'more case')}` : ''
  const title = oneLine(first?.title ?? '')
    .slice(0, 60)
    .toWellFormed()
  const subject = first ? `Cases: ${title}${more}` : `Cases: ${counted(files, 'file')}`
  const named = cases.slice(0, MAX_NAMED).map(({ id, title }) => `${id} ${oneLine(title)}`)
  return [subject, ...(named.length > 0 ? ['', ...named] : []), ''].join('\n')
}
