/** How git stores the cases, and the hooks of the repository: the part of `casefile init` that is about git. */

import { join, relative } from 'node:path'
import { isFolder } from '../files/folder-names.ts'
import { isWithin } from '../files/real-path.ts'
import type { MemoryKind } from '../git/memory-kind.ts'
import { findRepository } from '../git/repository.ts'
import { makeMemoryRoot, missingInMemoryRoot } from '../workspace/case-making.ts'
import { layoutOf } from '../workspace/layout.ts'
import { memorySteps, presentKind } from './git-memory.ts'
import { gitHookSteps, type HookChoice } from './hook-offer.ts'
import { noteStep, type Step } from './steps.ts'

export interface GitChoice extends HookChoice {
  /** How git should store the cases. If not given: as it does, or with the code. */
  memory?: MemoryKind | undefined
}

const DEFAULT_KIND: MemoryKind = 'with-code'

interface SetupFolders {
  root: string
  memoryRoot: string
}

/** Makes the memory root, too. */
export async function gitSteps(places: SetupFolders, choice: GitChoice): Promise<Step[]> {
  const { memory, after } = await repositorySteps(places, choice)
  const planned = new Set(memory.flatMap(({ files }) => files.map(({ path }) => path)))
  return [...memory, ...memoryRootSteps(places, planned), ...after]
}

async function repositorySteps(
  { root, memoryRoot }: SetupFolders,
  choice: GitChoice,
): Promise<{ memory: Step[]; after: Step[] }> {
  const skipped = (why: string) => ({
    memory: [],
    after: [noteStep(`Skipped the git setup: ${why}`)],
  })
  const code = await findRepository(root, {})
  if ('reason' in code) {
    return skipped(`${code.reason}. Run this again once there is a repository`)
  }
  if (!isWithin(code.top, memoryRoot)) {
    const name = relative(root, memoryRoot)
    return skipped(`${name} is outside of the repository ${code.top}`)
  }
  const place = { root, memoryRoot, code }
  const present = await presentKind(place)
  const kind = choice.memory ?? present ?? DEFAULT_KIND
  const isDefault = !choice.memory && !present && !(await isFolder(memoryRoot))
  const note = `Git stores the cases in this repository, with the code (to change that, use --memory)`
  const isNew = kind !== 'with-code' && present !== kind
  return {
    memory: await memorySteps(place, kind),
    after: [
      ...(isDefault ? [noteStep(note)] : []),
      ...(await gitHookSteps({ ...place, kind, isNew }, choice)),
    ],
  }
}

/** Makes the folders and files of the memory root that the steps before do not. */
function memoryRootSteps({ root, memoryRoot }: SetupFolders, planned: ReadonlySet<string>): Step[] {
  const layout = layoutOf(root, memoryRoot)
  const missing = missingInMemoryRoot(layout).filter((path) => !planned.has(path))
  if (missing.length === 0) return []
  const name = relative(root, memoryRoot) || '.'
  const isShown = !planned.has(join(memoryRoot, '.git'))
  return [
    {
      planned: isShown ? [`Create ${name}/ for the cases`] : [],
      files: missing.map((path) => ({ path })),
      async write() {
        await makeMemoryRoot(layout)
        return isShown ? [`Created ${name}/ for the cases`] : []
      },
    },
  ]
}
