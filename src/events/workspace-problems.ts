/** Publishes `problem_found` and `problem_cleared` for problems outside of any case, such as casefile.md. */

import type { Problem } from '../model/problem.ts'
import type { Publisher } from './publisher.ts'

export interface WorkspaceProblems {
  /** Looks for the problems, and publishes what has changed. */
  read(): Promise<Problem[]>
  /** Reads them in a moment. Call it when they may have changed. */
  readSoon(): void
  /** Call it after the start: before, nothing is published. */
  begin(): void
  close(): Promise<void>
}

interface WorkspaceProblemsDeps {
  /** Problems that belong to no case. */
  find(): Promise<Problem[]>
  publisher: Pick<Publisher, 'publishWorkspace'>
  log(line: string): void
}

/** A save causes several changes. */
const GATHER_MS = 100

export function createWorkspaceProblems({
  find,
  publisher,
  log,
}: WorkspaceProblemsDeps): WorkspaceProblems {
  let isPublishing = false
  let timer: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other, so that an older reading is not published after a newer one. */
  function read(): Promise<Problem[]> {
    const found = last.then(find).then((problems) => {
      if (isPublishing) publisher.publishWorkspace(problems)
      return problems
    })
    last = found.catch(() => {})
    return found
  }

  function readNow(): void {
    timer = undefined
    read().catch((error: unknown) => log(`problems could not be published: ${String(error)}`))
  }

  function readSoon(): void {
    if (isPublishing) timer ??= setTimeout(readNow, GATHER_MS).unref()
  }

  return {
    read,
    readSoon,
    begin() {
      isPublishing = true
    },
    async close() {
      isPublishing = false
      clearTimeout(timer)
      await last
    },
  }
}
