/** Publishes `problem_found` and `problem_cleared` for problems outside of any case, such as casefile.md. */

import type { Problem } from '../model/problem.ts'

interface WorkspaceProblemsDeps {
  /** Problems that belong to no case. */
  problems(): Promise<Problem[]>
  publish(problems: Problem[]): void
  log(line: string): void
}

const EVERY_MS = 1000

/** Publishes problems that belong to no case, soon after they appear or disappear. Returns a function that stops it. */
export function publishWorkspaceProblems(deps: WorkspaceProblemsDeps): () => Promise<void> {
  const { problems, publish, log } = deps
  let publishing: Promise<void> | null = null

  function begin(): void {
    publishing ??= problems()
      .then(publish)
      .catch((error: unknown) => log(`problems could not be published: ${String(error)}`))
      .finally(() => {
        publishing = null
      })
  }

  begin()
  const timer = setInterval(begin, EVERY_MS)
  return async () => {
    clearInterval(timer)
    await publishing
  }
}
