import { join, relative } from 'node:path'
import type { MemoryKind } from '../git/memory-kind.ts'
import {
  commitMessageHook,
  commitMessageLine,
  type GitHookPaths,
  HOOK_MARK,
  inWorkspace,
  preCommitHook,
  preCommitLine,
} from './git-hooks.ts'
import type { MemoryFolders } from './git-memory.ts'
import { hookAt, hooksFolder, installHook } from './hook-file.ts'
import { noteStep, type Step } from './steps.ts'

interface OfferedRepository extends MemoryFolders {
  kind: MemoryKind
  /** Whether the repository or the worktree of the cases is still to be made. */
  isNew: boolean
}

export interface HookChoice {
  /** Whether to install the git hooks; null leaves them, and says so. */
  hooks: boolean | null
  /** The program's own path, for a hook that does not find it on the PATH. */
  program: string
}

interface OfferedHook {
  path: string
  text: string
  /** The line to add where there is a hook already. */
  line: string
  /** For which commits, in the sentence that says what the line is for. */
  aim: string
  present: 'ours' | keyof typeof REASONS | null
}

/** Why a hook that is there is not changed. */
const REASONS = {
  other: 'it already exists',
  elsewhere: 'it is for another workspace of this repository',
  shared: 'it is shared by all your repositories',
}

/** The steps that install the hooks if they are wanted and possible. A note has the line to add to one that exists. */
export async function gitHookSteps(
  place: OfferedRepository,
  { hooks, program }: HookChoice,
): Promise<Step[]> {
  if (hooks === false) return []
  const offered = await Promise.all([checkingHook(place, program), namingHook(place, program)])
  const notes = offered.flatMap(({ path, line, aim, present }) =>
    present === null || present === 'ours'
      ? []
      : [
          `Did not change ${path}, because ${REASONS[present]}. ${aim}, add this line at its top:`,
          `  ${line}`,
        ],
  )
  const missing = offered.filter(({ present }) => present === null)
  if (missing.length > 0 && hooks === null) {
    notes.push('No hook is installed; --hook installs the hooks')
  }
  return [...(hooks ? missing.map(hookStep) : []), noteStep(...notes)]
}

function hookStep({ path, text }: OfferedHook): Step {
  return {
    planned: [`Create the hook ${path}`],
    files: [{ path, bytes: Buffer.from(text) }],
    instead: 'Or install no git hook (--no-hook).',
    async write() {
      await installHook(path, text)
      return [`Created the hook ${path}`]
    },
  }
}

/** Runs `casefile doctor --check` before a commit of cases: in the repository that has them. */
async function checkingHook(place: OfferedRepository, program: string): Promise<OfferedHook> {
  const { kind, code, memoryRoot } = place
  const committed = kind === 'with-code' ? code.top : memoryRoot
  const places = placesIn(committed, place, program)
  const found = await hookIn(committed, 'pre-commit', place)
  const [text, line] = [preCommitHook(places), preCommitLine(places)]
  return { ...found, text, line, aim: 'To check commits' }
}

/** Names sessions in the commits of the code. */
async function namingHook(place: OfferedRepository, program: string): Promise<OfferedHook> {
  const { top } = place.code
  const places = placesIn(top, place, program)
  const found = await hookIn(top, 'commit-msg', place)
  const [text, line] = [commitMessageHook(places), commitMessageLine(places)]
  return { ...found, text, line, aim: 'To name sessions in commits' }
}

function placesIn(
  committed: string,
  { kind, root, memoryRoot }: OfferedRepository,
  program: string,
): GitHookPaths {
  return {
    kind,
    program,
    toRoot: relative(committed, root),
    toMemory: relative(committed, memoryRoot),
  }
}

async function hookIn(
  committed: string,
  name: string,
  { code, kind, root, isNew }: OfferedRepository,
): Promise<Pick<OfferedHook, 'path' | 'present'>> {
  const isToCome = isNew && committed !== code.top
  const {
    path: folder,
    isShared,
    template,
  } = await hooksFolder(committed, {
    from: isToCome ? code.top : committed,
    isNewRepository: isToCome && kind === 'own-repo',
  })
  const path = join(folder, name)
  const line = inWorkspace(relative(committed, root))
  const source = template === null ? path : join(template, name)
  const present = await hookAt(source, HOOK_MARK, line)
  return { path, present: isShared && present !== 'ours' ? 'shared' : present }
}
