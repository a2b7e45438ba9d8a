import { join, relative } from 'node:path'
import { isFolder } from '../files/folder-names.ts'
import type { MemoryKind } from '../workspace/git/memory-kind.ts'
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
import { hookAt, hooksFolder, installHook } from './hook-file.ts'

interface Place {
  root: string
  memoryRoot: string
  /** The top folder of the code's working tree. */
  top: string
  kind: MemoryKind
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

/** Installs the hooks if they are wanted and possible; of one that exists it prints the line to add. */
export async function offerHooks(
  place: Place,
  { hook, yes }: InitOptions,
  deps: InitDeps,
): Promise<void> {
  const { say, operator, isDry } = deps
  if (hook === false) return
  const offered = await Promise.all([checkingHook(place, deps), namingHook(place, deps)])
  for (const { path, line, aim, present } of offered) {
    if (present === null || present === 'ours') continue
    say(`Did not change ${path}, because ${REASONS[present]}. ${aim}, add this line at its top:`)
    say(`  ${line}`)
  }
  const missing = offered.filter(({ present }) => present === null)
  if (missing.length === 0) return
  const asked = operator && !yes ? operator : null
  const paths = missing.map(({ path }) => path)
  const isWanted = hook ?? (asked ? await asked.wantsHooks(paths) : yes)
  if (!isWanted) {
    if (!isDry) say('No hook was installed; --hook installs the hooks')
    return
  }
  for (const { path, text } of missing) {
    if (!isDry) await installHook(path, text)
    say(`${isDry ? 'Create' : 'Created'} the hook ${path}`)
  }
}

/** Runs `casefile check` before a commit of cases: in the repository that has them. */
async function checkingHook(place: Place, deps: InitDeps): Promise<OfferedHook> {
  const { kind, top, memoryRoot } = place
  const committed = kind === 'with-code' ? top : memoryRoot
  const places = placesIn(committed, place, deps)
  const found = await hookIn(committed, 'pre-commit', place, deps)
  const [text, line] = [preCommitHook(places), preCommitLine(places)]
  return { ...found, text, line, aim: 'To check commits' }
}

/** Names sessions in the commits of the code. */
async function namingHook(place: Place, deps: InitDeps): Promise<OfferedHook> {
  const places = placesIn(place.top, place, deps)
  const found = await hookIn(place.top, 'commit-msg', place, deps)
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

/** In a dry run the repository of the cases may not exist yet. */
async function hookIn(
  committed: string,
  name: string,
  { top, kind, root }: Place,
  { isDry }: InitDeps,
): Promise<Pick<OfferedHook, 'path' | 'present'>> {
  const isMissing = isDry && !(await isFolder(committed))
  const { path: folder, isShared } =
    isMissing && kind === 'own-repo'
      ? { path: join(committed, '.git/hooks'), isShared: false }
      : await hooksFolder(isMissing ? top : committed)
  const path = join(folder, name)
  const present = await hookAt(path, HOOK_MARK, inWorkspace(relative(committed, root)))
  return { path, present: isShared && present !== 'ours' ? 'shared' : present }
}
