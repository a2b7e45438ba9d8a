/** Decides how git stores the cases, for the API; `casefile init` does the same on a terminal. */

import { join, relative } from 'node:path'
import { entriesIn, isFolder } from '../files/folder-names.ts'
import { isWithin } from '../files/real-path.ts'
import { AppError } from '../model/app-error.ts'
import { findRepository, type GitRepository } from '../workspace/git/git-repository.ts'
import { MEMORY_KINDS, type MemoryKind } from '../workspace/git/memory-kind.ts'
import { type Layout, MEMORY_ROOT_FILES } from '../workspace/layout.ts'
import {
  excludeFromCode,
  isExcluded,
  makeOwnRepository,
  makeWorktree,
  presentKind,
} from './git-memory.ts'

export interface MemoryStatus {
  /** Null without a repository, or if it is undecided. */
  memory: MemoryKind | null
  /** What can be chosen; empty unless it is undecided. */
  memory_choices: MemoryKind[]
}

type Places = Pick<Layout, 'root' | 'memoryRoot'>

export async function memoryStatus({ root, memoryRoot }: Places): Promise<MemoryStatus> {
  const code = await repositoryOf(root, memoryRoot)
  if (code === null) return { memory: null, memory_choices: [] }
  const memory = await presentKind(memoryRoot, code)
  if (memory !== null) return { memory, memory_choices: [] }
  // git checks out a branch only into an empty folder
  const hasFiles = (await isFolder(memoryRoot)) && (await entriesIn(memoryRoot)).length > 0
  const memory_choices = MEMORY_KINDS.filter((kind) => !hasFiles || kind !== 'orphan-worktree')
  return { memory, memory_choices }
}

/** What the choice would write, and the function that does it. Throws if it cannot be carried out. */
export async function planMemory(
  { root, memoryRoot }: Places,
  kind: MemoryKind,
): Promise<{ files: string[]; write(): Promise<void> }> {
  const code = await repositoryOf(root, memoryRoot)
  if (code === null) throw impossible('there is no git repository that contains the cases')
  const { memory, memory_choices: choices } = await memoryStatus({ root, memoryRoot })
  if (memory !== null && memory !== kind) {
    throw new AppError(
      'already_exists',
      `Git already stores the cases as ${memory}. Changing that to ${kind} takes a few steps by hand: see "From one way to another" in docs/git.md.`,
    )
  }
  const isDone = memory === kind || kind === 'with-code'
  if (isDone) return { files: [], write: async () => {} }
  if (!choices.includes(kind)) throw impossible(`${relative(root, memoryRoot)}/ already has files`)
  const names = kind === 'own-repo' ? ['.git'] : ['.git', ...Object.keys(MEMORY_ROOT_FILES)]
  const files = names.map((name) => join(memoryRoot, name))
  if (!(await isExcluded(memoryRoot, code))) files.unshift(code.exclude)
  return {
    files,
    async write() {
      await excludeFromCode(memoryRoot, code)
      if (kind === 'own-repo') await makeOwnRepository(memoryRoot)
      else await makeWorktree(memoryRoot, code)
    },
  }
}

function impossible(why: string): AppError {
  return new AppError('bad_request', `Git cannot store the cases in this way, because ${why}.`, {
    errors: [{ path: 'memory', message: why }],
  })
}

async function repositoryOf(root: string, memoryRoot: string): Promise<GitRepository | null> {
  const code = await findRepository(root, {})
  return 'reason' in code || !isWithin(code.top, memoryRoot) ? null : code
}
