import { relative } from 'node:path'
import { runGit } from '../../git/run-git.ts'
import { CREATE_CASE } from '../../init/next-commands.ts'
import { ALLOWED_SIGNERS } from '../../model/approval-statement.ts'
import { OWN_PROVIDER, SETTINGS_FILE } from '../../model/settings.ts'
import { visibleText } from '../../model/visible-text.ts'
import { findWorkspaceFolders } from '../../settings/workspace-folders.ts'
import { ownTerminal } from '../output/terminal.ts'

/** Of these files, those that are new or changed in git; none without a repository. */
async function uncommittedOf(root: string, memory: string): Promise<string[]> {
  const found: string[] = []
  for (const name of [SETTINGS_FILE, memory, ALLOWED_SIGNERS]) {
    const args = ['status', '--porcelain', '--untracked-files=normal', '--', `:(literal)${name}`]
    const status = await runGit(args, { cwd: root }).catch(() => null)
    if (status?.exit === 0 && status.stdout.length > 0) found.push(name)
  }
  return found
}

/** What was set up: the lines that end `casefile init`. */
export async function nextLines(
  rootOption: string,
  done: Omit<Done, 'uncommitted'>,
): Promise<string[]> {
  const places = await findWorkspaceFolders({ root: rootOption }, process.env, ownTerminal().warn)
  const { root, memoryRoot } = places
  return nextSteps({ ...done, uncommitted: await uncommittedOf(root, relative(root, memoryRoot)) })
}

interface Done {
  /** Who plans: the id of an agent; null if this was not decided now. */
  agent: string | null
  inTerminal: boolean
  uncommitted: readonly string[]
}

/** The next commands, by who plans. */
function nextSteps({ agent, inTerminal, uncommitted }: Done): string[] {
  const names = uncommitted.map(visibleText).join(' ')
  const commit = names === '' ? [] : [`git add ${names} && git commit -m "Set up Casefile"`]
  return ['', 'Next:', ...[...commit, ...steps()].map((line) => `  ${line}`)]

  function steps(): string[] {
    if (agent !== null && inTerminal) {
      return [
        `${CREATE_CASE} --use   (makes the case current here)`,
        'casefile serve --open',
        `${agent}   (in another terminal, in any mode; it asks before it changes anything)`,
      ]
    }
    if (agent === 'none' || agent === OWN_PROVIDER) {
      return [CREATE_CASE, 'casefile start --help   (shows how a runbook for the case is written)']
    }
    if (agent === null) return ['casefile doctor', CREATE_CASE]
    return [CREATE_CASE, 'casefile start "what is"']
  }
}
