import { gitLog, type LoggedCommit } from '../git/log.ts'
import { type GitCommandOptions, runGit } from '../git/run-git.ts'

const REPEATED = '--diff-merges=remerge'
const EVERY_PARENT = '--diff-merges=combined'

/**
 * Returns, for each merge, the files that it changes itself: those that are not what git makes of its parents, so also a
 * conflict that a person resolved, and a change that was dropped. Git cannot repeat a merge of more than two parents, and
 * none before 2.35, without write access or without all contents; then it is the files that differ from every parent.
 */
export async function readMergeChanges(
  commits: readonly LoggedCommit[],
  git: GitCommandOptions,
): Promise<Map<string, string[]>> {
  const merges = commits.filter(({ parents }) => parents.length > 1)
  const ofTwo = merges.filter(({ parents }) => parents.length === 2)
  const ofMany = merges.filter(({ parents }) => parents.length > 2)
  const canRepeat = await areRepeatable(ofTwo, git)
  const found = [
    ...(await logged(ofTwo, canRepeat ? REPEATED : EVERY_PARENT, git)),
    ...(await logged(ofMany, EVERY_PARENT, git)),
  ]
  return new Map(found.map(({ id, changes }) => [id, changes.map(({ path }) => path)]))
}

async function areRepeatable(
  merges: readonly LoggedCommit[],
  git: GitCommandOptions,
): Promise<boolean> {
  if (merges.length === 0) return false
  const words = ['log', REPEATED, ...LISTED, '--raw', '--format=']
  return (await runGit(words, { ...git, input: idsOf(merges) })).exit === 0
}

async function logged(
  commits: readonly LoggedCommit[],
  diff: string,
  git: GitCommandOptions,
): Promise<LoggedCommit[]> {
  if (commits.length === 0) return []
  return gitLog([diff, ...LISTED], { ...git, input: idsOf(commits) })
}

/** Options for the commits of standard input alone. */
const LISTED = ['--no-walk=unsorted', '--stdin']

function idsOf(commits: readonly LoggedCommit[]): string {
  return commits.map(({ id }) => `${id}\n`).join('')
}
