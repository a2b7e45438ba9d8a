import { quoteForShell } from '../runners/hooks/shell-quote.ts'
import type { MemoryKind } from '../workspace/git/memory-kind.ts'
import { MEMORY_BRANCH } from './git-memory.ts'

export interface HookPlaces {
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
 * A pre-commit hook that runs `casefile check` if a commit contains cases. If the program is not found, the commit
 * passes with a warning, since not every clone has it installed.
 */
export function preCommitHook({ kind, toRoot, toMemory, program }: HookPlaces): string {
  return `#!/bin/sh
# ${HOOK_MARK}: stops a commit while a case of it has a problem. This file is yours now.
# One commit without it: git commit --no-verify
${CONDITIONS[kind](toMemory)}top=$(git rev-parse --show-toplevel) && cd "$top"/${quoteForShell(toRoot)} || exit 0

program=${quoteForShell(program)}
if command -v casefile > /dev/null 2>&1; then
  casefile check --root .
elif [ -f "$program" ] && command -v node > /dev/null 2>&1; then
  node "$program" check --root .
elif npx --no-install --offline casefile --version > /dev/null 2>&1; then
  npx --no-install --offline casefile check --root .
else
  (exit 127)
fi
code=$?
[ $code -eq 127 ] || exit $code
echo 'casefile: not found, so the cases in this commit were not checked' >&2
`
}

/** The line to add to an existing hook. */
export function hookLine({ kind, toRoot }: HookPlaces): string {
  const line = `casefile check --root "$(git rev-parse --show-toplevel)"/${quoteForShell(toRoot)} || exit 1`
  return kind === 'orphan-worktree' ? `! ${ON_BRANCH} || ${line}` : line
}

const ON_BRANCH = `[ "$(git symbolic-ref --quiet --short HEAD)" = ${MEMORY_BRANCH} ]`

const CONDITIONS: Record<MemoryKind, (toMemory: string) => string> = {
  'with-code': (toMemory) =>
    `git diff --cached --quiet -- ${quoteForShell(`:(top,literal)${toMemory}`)} && exit 0 # no case in it\n`,
  'own-repo': () => '',
  'orphan-worktree': () => `${ON_BRANCH} || exit 0 # a commit of the code\n`,
}
