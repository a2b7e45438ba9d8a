import { relative, resolve } from 'node:path'
import { createDurable } from '../files/durable-write.ts'
import { isFolder } from '../files/folder-names.ts'
import { isWithin } from '../files/real-path.ts'
import { stampOf } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import { makeMemoryRoot } from '../workspace/case-making.ts'
import { findRepository, type GitRepository } from '../workspace/git/git-repository.ts'
import type { MemoryKind } from '../workspace/git/memory-kind.ts'
import { layoutOf } from '../workspace/layout.ts'
import { createSettings } from '../workspace/settings/settings.ts'
import { memoryRootAt, workspaceRoot } from '../workspace/workdir.ts'
import { DEFAULT_KIND, type InitDeps, type InitOptions } from './deps.ts'
import { FIRST_SETTINGS } from './first-settings.ts'
import { excludeFromCode, makeOwnRepository, makeWorktree, presentKind } from './git-memory.ts'
import { offerHooks } from './hook-offer.ts'

/** `casefile init`: turns a folder into a workspace. Existing files stay; a second run changes nothing. */
export async function init(options: InitOptions, deps: InitDeps): Promise<void> {
  const { say } = deps
  const root = await workspaceRoot(options.root)
  const { memoryRoot: configuredRoot } = await createSettings(root)()
  const memoryRoot = await memoryRootAt(resolve(root, configuredRoot ?? 'memory'))
  const name = relative(root, memoryRoot) || '.'
  const found = await findRepository(root, {})
  const code = 'reason' in found ? null : found
  const kind = code && (await chooseKind(memoryRoot, code, options, deps))

  await makeSettings(root, deps)
  if (code && kind) await setUpGit(kind, memoryRoot, code, name, deps)
  const isCreated = deps.isDry
    ? !(await isFolder(memoryRoot))
    : await makeMemoryRoot(layoutOf(root, memoryRoot))
  if (isCreated) say(`${deps.isDry ? 'Create' : 'Created'} ${name}/ for the cases`)
  if ('reason' in found) {
    say(`Skipped the git setup: ${found.reason}. Run this again once there is a repository`)
  } else if (kind === null) {
    say(`Skipped the git setup: ${name} is outside of the repository ${found.top}`)
  } else await offerHooks({ root, memoryRoot, top: found.top, kind }, options, deps)
}

/** How git should store the cases; null if the memory root is outside of this repository. */
async function chooseKind(
  memoryRoot: string,
  code: GitRepository,
  { memory, yes }: InitOptions,
  { operator, say }: InitDeps,
): Promise<MemoryKind | null> {
  if (!isWithin(code.top, memoryRoot)) return null
  const present = await presentKind(memoryRoot, code)
  if (present && memory && memory !== present) {
    throw new AppError(
      'already_exists',
      `Git already stores the cases as ${present}. Changing that to ${memory} takes a few steps by hand: see "From one way to another" on the page Git of the console's Help.`,
    )
  }
  const known = present ?? memory
  if (known) return known
  if (operator && !yes) return operator.chooseKind()
  if (!(await isFolder(memoryRoot))) {
    say(`Git stores the cases ${DEFAULT_KIND} (to change that, use --memory)`)
  }
  return DEFAULT_KIND
}

async function makeSettings(root: string, { say, isDry }: InitDeps): Promise<void> {
  const path = resolve(root, SETTINGS_FILE)
  if (isDry) {
    if ((await stampOf(path)) === null) say(`Create ${SETTINGS_FILE} with all settings as comments`)
    return
  }
  try {
    await createDurable(path, Buffer.from(FIRST_SETTINGS))
    say(`Created ${SETTINGS_FILE} with all settings as comments`)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'already_exists')) throw error
  }
}

/** Makes git store the cases in this way; does nothing if it does already. */
async function setUpGit(
  kind: MemoryKind,
  memoryRoot: string,
  code: GitRepository,
  name: string,
  { say, isDry }: InitDeps,
): Promise<void> {
  if (kind === 'with-code') return
  const isThere = (await presentKind(memoryRoot, code)) === kind
  if (isDry) {
    if (isThere) return
    say(`Exclude ${name}/ from the code's repository in this clone (${code.exclude})`)
    say(kind === 'own-repo' ? `Make ${name}/ a git repository` : `Make ${name}/ a worktree`)
    return
  }
  if (await excludeFromCode(memoryRoot, code)) {
    say(`The code's repository now ignores ${name}/ in this clone (${code.exclude})`)
    say(`  For every clone, add it to .gitignore`)
  }
  if (isThere) return
  if (kind === 'own-repo') {
    await makeOwnRepository(memoryRoot)
    say(`Made ${name}/ a separate git repository`)
  } else {
    const branch = await makeWorktree(memoryRoot, code)
    say(`Made ${name}/ a worktree of the branch ${branch}`)
  }
}
