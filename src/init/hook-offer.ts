import { join, relative } from 'node:path'
import { isFolder } from '../files/folder-names.ts'
import type { MemoryKind } from '../workspace/git/memory-kind.ts'
import type { InitDeps, InitOptions } from './deps.ts'
import { hookAt, hooksFolder, installHook } from './hook-file.ts'
import { HOOK_MARK, type HookPlaces, hookLine, preCommitHook } from './pre-commit-hook.ts'

interface Place {
  root: string
  memoryRoot: string
  /** The top folder of the code's working tree. */
  top: string
  kind: MemoryKind
}

const HOOK = 'pre-commit'

/** Installs the hook if it is wanted and possible; otherwise prints the line to add to an existing hook. */
export async function offerHook(
  { root, memoryRoot, top, kind }: Place,
  { hook, yes }: InitOptions,
  { say, operator, program, isDry }: InitDeps,
): Promise<void> {
  const committed = kind === 'with-code' ? top : memoryRoot
  const places: HookPlaces = {
    kind,
    program,
    toRoot: relative(committed, root),
    toMemory: relative(committed, memoryRoot),
  }
  const isMissing = isDry && !(await isFolder(committed))
  const { path: folder, isShared } =
    isMissing && kind === 'own-repo'
      ? { path: join(committed, '.git/hooks'), isShared: false }
      : await hooksFolder(isMissing ? top : committed)
  const path = join(folder, HOOK)
  const present = await hookAt(path, HOOK_MARK)
  if (present === 'ours' || hook === false) return
  if (isShared || present === 'other') {
    const why = isShared ? 'it is shared by all your repositories' : 'it already exists'
    say(`Did not change ${path}, because ${why}. To check commits, add this line to it:`)
    say(`  ${hookLine(places)}`)
    return
  }
  const asked = operator && !yes ? operator : null
  const isWanted = hook ?? (asked ? await asked.wantsHook(path) : yes)
  if (isDry) {
    if (isWanted) say(`Create the hook ${path}`)
  } else if (isWanted) {
    await installHook(path, preCommitHook(places))
    say(`Created the hook ${path}`)
  } else say('No hook was installed; --hook installs one')
}
