import type { MemoryKind } from '../git/memory-kind.ts'
import { quoteForShell } from '../runners/shell-quote.ts'
import { MEMORY_BRANCH } from './git-memory.ts'

export interface GitHookPaths {
  kind: MemoryKind
  /** The paths from the top of the committed working tree to the workspace and to the memory root. */
  toRoot: string
  toMemory: string
  /** The program that writes the hook, in case it is not on the PATH. */
  program: string
}

/** A text in every hook that casefile has written, whatever its version. */
export const HOOK_MARK = 'Written by `casefile init`'

/**
 * A pre-commit hook that runs `casefile doctor --check` if a commit contains cases. If the program is not found, the commit
 * passes with a warning, since not every clone has it installed.
 */
export function preCommitHook(places: GitHookPaths): string {
  const { kind, toRoot, toMemory, program } = places
  return `#!/bin/sh
# ${HOOK_MARK}: stops a commit while a case of it has a problem. This file is yours now.
# One commit without it: git commit --no-verify
${CONDITIONS[kind](toMemory)}${inWorkspace(toRoot)}
${callOf('doctor --check --root .', program)}code=$?
[ $code -eq 127 ] || exit $code
echo 'casefile: not found, so the cases in this commit were not checked' >&2
`
}

/**
 * A commit-msg hook that names the sessions whose work a commit contains. It never stops a commit. Of the two hooks that
 * may change a message, the one before the editor would make git commit a message that a person left empty.
 */
export function commitMessageHook({ toRoot, program }: GitHookPaths): string {
  return `#!/bin/sh
# ${HOOK_MARK}: names the session whose work a commit contains. This file is yours now.
message=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
${inWorkspace(toRoot)}
${callOf('trailer --root . --message "$message"', program)}exit 0
`
}

/** The line to add to an existing pre-commit hook. */
export function preCommitLine({ kind, toRoot }: GitHookPaths): string {
  const line = `casefile doctor --check --root "$(git rev-parse --show-toplevel)"/${quoteForShell(toRoot)} || exit 1`
  return kind === 'orphan-worktree' ? `! ${ON_BRANCH} || ${line}` : line
}

/** The line to add to an existing commit-msg hook. */
export function commitMessageLine({ toRoot }: GitHookPaths): string {
  return `casefile trailer --root "$(git rev-parse --show-toplevel)"/${quoteForShell(toRoot)} --message "$1"`
}

/** The line by which a hook goes to its workspace, and ends where that is not. */
export function inWorkspace(toRoot: string): string {
  return `top=$(git rev-parse --show-toplevel) && cd "$top"/${quoteForShell(toRoot)} || exit 0\n`
}

/** Calls the program where it is found; 127 where it is not. */
function callOf(words: string, program: string): string {
  return `program=${quoteForShell(program)}
if command -v casefile > /dev/null 2>&1; then
  casefile ${words}
elif [ -f "$program" ] && command -v node > /dev/null 2>&1; then
  node "$program" ${words}
elif npx --no-install --offline casefile --version > /dev/null 2>&1; then
  npx --no-install --offline casefile ${words}
else
  (exit 127)
fi
`
}

const ON_BRANCH = `[ "$(git symbolic-ref --quiet --short HEAD)" = ${MEMORY_BRANCH} ]`

const CONDITIONS: Record<MemoryKind, (toMemory: string) => string> = {
  'with-code': (toMemory) =>
    `git diff --cached --quiet -- ${quoteForShell(`:(top,literal)${toMemory}`)} && exit 0 # no case in it\n`,
  'own-repo': () => '',
  'orphan-worktree': () => `${ON_BRANCH} || exit 0 # a commit of the code\n`,
}
