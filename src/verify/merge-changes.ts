import { type GitCommandOptions, runGit } from '../workspace/git/git-command.ts'
import { gitLog, type LoggedCommit } from '../workspace/git/git-log.ts'

const REPEATED = '--diff-merges=remerge'
const EVERY_PARENT = '--diff-merges=combined'

/**
 * Returns, for each merge, the files that it changes itself: those that are not what git makes of its parents, so also a
 * conflict that a person resolved, and a change that was dropped. Git cannot repeat a merge of more than two parents, and
 * none before 2.35 or in a folder that it cannot write to; then it is the files that differ from every parent.
 */
export async function readMergeChanges(
  commits: readonly LoggedCommit[],
  git: GitCommandOptions,
): Promise<Map<string, string[]>> {
  const merges = commits.filter(({ parents }) => parents.length > 1)
  const canRepeat = await isRepeatable(merges, git)
  const repeated = merges.filter(({ parents }) => canRepeat && parents.length === 2)
  const others = merges.filter(({ parents }) => !canRepeat || parents.length > 2)
  const found = [
    ...(await logged(repeated, REPEATED, git)),
    ...(await logged(others, EVERY_PARENT, git)),
  ]
  return new Map(found.map(({ id, changes }) => [id, changes.map(({ path }) => path)]))
}

async function isRepeatable(
  [merge]: readonly LoggedCommit[],
  git: GitCommandOptions,
): Promise<boolean> {
  if (!merge) return false
  const words = ['log', REPEATED, '--no-walk', '--raw', '--format=', merge.id, '--']
  return (await runGit(words, git)).exit === 0
}

async function logged(
  commits: readonly LoggedCommit[],
  diff: string,
  git: GitCommandOptions,
): Promise<LoggedCommit[]> {
  if (commits.length === 0) return []
  const input = commits.map(({ id }) => `${id}\n`).join('')
  return gitLog([diff, '--no-walk=unsorted', '--stdin'], { ...git, input })
}
