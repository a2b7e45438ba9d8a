import { MEMORY_KINDS, type MemoryKind } from '../../git/memory-kind.ts'
import { DEFAULT_KIND } from '../../init/deps.ts'
import { MEMORY_BRANCH } from '../../init/git-memory.ts'
import { ask } from '../question.ts'
import { choose } from './choose.ts'

/** What each choice means, for someone new to it. docs/git.md has more. */
const MEANINGS: Record<MemoryKind, string> = {
  'with-code':
    "in the code's repository. Cases follow its branches: what is done on a branch is recorded on that branch, and reaches the others by merge. But checkout, stash and clean also act on cases, and you see a case on its own branch only.",
  'own-repo':
    "in a separate repository, which the code's repository ignores. Checkout, stash and clean of the code never touch cases, and you always see all of them. You commit and push them separately.",
  'orphan-worktree': `on the separate branch "${MEMORY_BRANCH}" of the same repository, checked out as memory/. Cases stay apart from the code as with own-repo, and are pushed to the same place.`,
}

/** Explains the three choices and asks until the answer is one of them. */
export async function askForKind(
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<MemoryKind> {
  write('How should git store the cases, which are files in memory/?\n\n')
  for (const [index, kind] of MEMORY_KINDS.entries()) {
    write(`  ${index + 1}. ${kind}: ${MEANINGS[kind]}\n\n`)
  }
  return choose(MEMORY_KINDS, MEMORY_KINDS.indexOf(DEFAULT_KIND), {
    write,
    ask: (question) => ask(question, signal),
  })
}
