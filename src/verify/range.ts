import { AppError } from '../model/app-error.ts'
import { type GitCommandOptions, runGit } from '../workspace/git/git-command.ts'

export interface CommitRange {
  /** As git takes it. */
  range: string
  /** The commit before the range; null if the range is everything. */
  base: string | null
}

/**
 * The commits to check: those that were asked for; else, in CI, those of the pull or merge request; else those that
 * `origin`'s default branch has not; else all.
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
  if (range.startsWith('-') || range.includes('\0')) throw unknownRange(range, 'not a range')
  const { exit, stdout, stderr } = await runGit(
    ['rev-parse', '--revs-only', '--end-of-options', range, '--'],
    git,
  )
  const names = stdout
    .toString()
    .split('\n')
    .filter((line) => /^\^?[0-9a-f]{40,64}$/.test(line))
  if (exit !== 0 || names.length === 0) throw unknownRange(range, stderr.trim())
  const excluded = names.filter((name) => name.startsWith('^')).map((name) => name.slice(1))
  const tips = names.filter((name) => !name.startsWith('^'))
  if (excluded.length === 0 || tips.length === 0) return { range, base: null }
  const base = await runGit(['merge-base', excluded[0]!, tips[0]!], git)
  return { range, base: base.exit === 0 ? base.stdout.toString().trim() : excluded[0]! }
}

function unknownRange(range: string, why: string): AppError {
  const said = why === '' ? '' : ` (git: ${why.split('\n')[0]!.replace(/^fatal: /, '')})`
  return new AppError(
    'bad_request',
    `git has no commits ${range} here${said}. In CI, fetch the whole history first: fetch-depth: 0 for actions/checkout, GIT_DEPTH: 0 for GitLab.`,
  )
}
