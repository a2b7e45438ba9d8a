/** How git stores the cases, for the API. */

import { entriesIn, isFolder } from '../files/folder-names.ts'
import { isWithin } from '../files/real-path.ts'
import { MEMORY_KINDS, type MemoryKind } from '../git/memory-kind.ts'
import { findRepository, type GitRepository } from '../git/repository.ts'
import { AppError } from '../model/app-error.ts'
import type { Layout } from '../workspace/layout.ts'
import { memorySteps, presentKind } from './git-memory.ts'
import type { Step } from './steps.ts'

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
  const memory = await presentKind({ root, memoryRoot, code })
  if (memory !== null) return { memory, memory_choices: [] }
  // git checks out a branch only into an empty folder
  const hasFiles = (await isFolder(memoryRoot)) && (await entriesIn(memoryRoot)).length > 0
  const memory_choices = MEMORY_KINDS.filter((kind) => !hasFiles || kind !== 'orphan-worktree')
  return { memory, memory_choices }
}

/** The steps of the choice. Throws if it cannot be carried out. */
export async function planMemory({ root, memoryRoot }: Places, kind: MemoryKind): Promise<Step[]> {
  const code = await repositoryOf(root, memoryRoot)
  if (code !== null) return memorySteps({ root, memoryRoot, code }, kind)
  const why = 'there is no git repository that contains the cases'
  throw new AppError('bad_request', `Git cannot store the cases in this way, because ${why}.`, {
    errors: [{ path: 'memory', message: why }],
  })
}

async function repositoryOf(root: string, memoryRoot: string): Promise<GitRepository | null> {
  const code = await findRepository(root, {})
  return 'reason' in code || !isWithin(code.top, memoryRoot) ? null : code
}
