import { join, relative } from 'node:path'
import type { MemoryKind } from '../git/memory-kind.ts'
import type { InitDeps, InitOptions } from './deps.ts'
import {
  commitMessageHook,
  commitMessageLine,
  HOOK_MARK,
  type HookPlaces,
  inWorkspace,
  preCommitHook,
  preCommitLine,
} from './git-hooks.ts'
import type { MemoryPlace } from './git-memory.ts'
import { hookAt, hooksFolder, installHook } from './hook-file.ts'
import type { Step } from './steps.ts'

interface Place extends MemoryPlace {
  kind: MemoryKind
  /** Whether the repository or the worktree of the cases is still to be made. */
  isNew: boolean
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
export async function planGitHooks(
  place: Place,
  { hook, yes }: InitOptions,
  deps: InitDeps,
): Promise<{ steps: Step[]; notes: string[] }> {
  if (hook === false) return { steps: [], notes: [] }
  const offered = await Promise.all([checkingHook(place, deps), namingHook(place, deps)])
  const notes = offered.flatMap(({ path, line, aim, present }) =>
    present === null || present === 'ours'
      ? []
      : [
          `Did not change ${path}, because ${REASONS[present]}. ${aim}, add this line at its top:`,
          `  ${line}`,
        ],
  )
  const missing = offered.filter(({ present }) => present === null)
  if (missing.length === 0) return { steps: [], notes }
  const { operator } = deps
  const asked = operator && !yes ? operator : null
  const isWanted = hook ?? (asked ? await asked.wantsHooks(missing.map(({ path }) => path)) : yes)
  if (!isWanted) notes.push('No hook is installed; --hook installs the hooks')
  return { steps: isWanted ? missing.map(hookStep) : [], notes }
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

/** Runs `casefile check` before a commit of cases: in the repository that has them. */
async function checkingHook(place: Place, deps: InitDeps): Promise<OfferedHook> {
  const { kind, code, memoryRoot } = place
  const committed = kind === 'with-code' ? code.top : memoryRoot
  const places = placesIn(committed, place, deps)
  const found = await hookIn(committed, 'pre-commit', place)
  const [text, line] = [preCommitHook(places), preCommitLine(places)]
  return { ...found, text, line, aim: 'To check commits' }
}

/** Names sessions in the commits of the code. */
async function namingHook(place: Place, deps: InitDeps): Promise<OfferedHook> {
  const { top } = place.code
  const places = placesIn(top, place, deps)
  const found = await hookIn(top, 'commit-msg', place)
  const [text, line] = [commitMessageHook(places), commitMessageLine(places)]
  return { ...found, text, line, aim: 'To name sessions in commits' }
}

function placesIn(
  committed: string,
  { kind, root, memoryRoot }: Place,
  { program }: InitDeps,
): HookPlaces {
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
  { code, kind, root, isNew }: Place,
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
