import { type GitCommandOptions, runGit } from '../git/run-git.ts'
import { AppError } from '../model/app-error.ts'

export interface CommitRange {
  /** As git takes it. */
  range: string
  /** The commit before the range; null if the range is everything. */
  base: string | null
}

/**
 * The commits to check: those that were asked for; else, in CI, those of the pull or merge request; else those that
 * `origin`'s default branch has not; else all. Throws an AppError if they are not all here.
 */
export async function chooseRange(
  asked: string | undefined,
  environment: NodeJS.ProcessEnv,
  git: GitCommandOptions,
): Promise<CommitRange> {
  if (asked !== undefined) return rangeOf(asked, git)
  const { GITHUB_BASE_REF, CI_MERGE_REQUEST_DIFF_BASE_SHA } = environment
  if (GITHUB_BASE_REF) return rangeOf(`origin/${GITHUB_BASE_REF}..HEAD`, git)
  if (CI_MERGE_REQUEST_DIFF_BASE_SHA) return rangeOf(`${CI_MERGE_REQUEST_DIFF_BASE_SHA}..HEAD`, git)
  const ahead = await runGit(['rev-list', '--count', 'refs/remotes/origin/HEAD..HEAD', '--'], git)
  if (ahead.exit === 0 && ahead.stdout.toString().trim() !== '0')
    return rangeOf('origin/HEAD..HEAD', git)
  return rangeOf('HEAD', git)
}

async function rangeOf(range: string, git: GitCommandOptions): Promise<CommitRange> {
  if (range.trim() === '') {
    throw new AppError(
      'bad_request',
      'The range is empty. Name commits, such as main..HEAD, or leave it out.',
    )
  }
  if (range.startsWith('-') || range.includes('\0')) throw await unknownRange(range, '', git)
  const words = ['rev-parse', '--revs-only', '--end-of-options', range, '--']
  const { exit, stdout, stderr } = await runGit(words, git)
  const names = linesOf(stdout)
  const excluded = names.filter((name) => name.startsWith('^')).map((name) => name.slice(1))
  const tips = names.filter((name) => !name.startsWith('^'))
  const isNamed = exit === 0 && tips.length > 0
  if (!isNamed || !(await areCommits([...tips, ...excluded], git)))
    throw await unknownRange(range, stderr.trim(), git)
  if (excluded.length === 0) return { range, base: null }
  const base = await runGit(['merge-base', excluded[0]!, tips[0]!], git)
  return { range, base: base.exit === 0 ? base.stdout.toString().trim() : excluded[0]! }
}

function linesOf(output: Buffer): string[] {
  return output
    .toString()
    .split('\n')
    .filter((line) => line !== '')
}

/** Whether they are commits, or tags of commits. A tree or a file has a name in git too. */
async function areCommits(names: readonly string[], git: GitCommandOptions): Promise<boolean> {
  const input = names.map((name) => `${name}^{commit}\n`).join('')
  const { stdout } = await runGit(['cat-file', '--batch-check=%(objecttype)'], { ...git, input })
  return linesOf(stdout).every((type) => type === 'commit')
}

async function unknownRange(
  range: string,
  said: string,
  git: GitCommandOptions,
): Promise<AppError> {
  const because = said === '' ? '' : ` (git: ${said.split('\n')[0]!.replace(/^fatal: /, '')})`
  const shallow = await runGit(['rev-parse', '--is-shallow-repository'], git)
  const mayBeFetched =
    shallow.stdout.toString().trim() === 'true' || /(?:^|\.\.)(?:origin\/|[0-9a-f]{40})/.test(range)
  const advice = mayBeFetched
    ? 'Fetch them first. In CI, fetch the whole history: fetch-depth: 0 for actions/checkout, GIT_DEPTH: 0 for GitLab.'
    : 'Use names as git does, such as main..HEAD or v1.2..v1.3.'
  return new AppError('bad_request', `"${range}" names no commits here${because}. ${advice}`)
}
