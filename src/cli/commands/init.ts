import { Command, Option } from 'commander'
import { OWN_PROVIDER } from '../../model/settings.ts'
import type { MEMORY_KINDS } from '../../workspace/git/memory-kind.ts'
import { explain, jsonOption, type ProgramContext, rootOption } from '../command.ts'
import type { InitCommandOptions } from '../init/init-on-terminal.ts'
import { jsonText } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'

/** Duplicates `MEMORY_KINDS`: importing it would load everything about git for the help. */
const MEMORY_WAYS: typeof MEMORY_KINDS = ['with-code', 'own-repo', 'orphan-worktree']

interface Options extends InitCommandOptions {
  json?: boolean
}

export function command({ program }: ProgramContext): Command {
  const init = new Command('init')
    .description(
      'Set up a workspace; asks who plans, what proves work, and how git keeps the cases.',
    )
    .addOption(
      new Option('--memory <way>', 'How git keeps the cases; see docs/git.md.').choices(
        MEMORY_WAYS,
      ),
    )
    .option('--agent <name>', 'Who plans new sessions, such as claude; none for runbooks only.')
    .option('--in-terminal', 'You start the agent in your own terminal; installs its hooks.')
    .option('--spawned', 'Casefile starts the agent; installs no hooks.')
    .option('--tests <command>', 'How the tests are run; none takes it away.')
    .option('--sign', 'Ask for a signature at each approval; adds your SSH key to allowed_signers.')
    .option('--no-sign', 'Do not ask for signatures.')
    .option('--hook', 'Install a pre-commit hook that runs casefile check.')
    .option('--no-hook', 'Install no hook.')
    .option('--yes', 'Ask nothing: the only agent that is logged in, with-code, and the hook.')
    .option('--dry-run', 'Only show what would be written.')
    .action(({ spawned, ...options }: Options & { spawned?: boolean }) =>
      run(spawned ? { ...options, inTerminal: false } : options, program),
    )
  return explain(init, {
    examples: [
      ['casefile init --yes', 'Set up this folder without a question.'],
      ['casefile init --agent claude --tests "npm test"', 'Say who plans and what proves work.'],
    ],
    shared: [rootOption(), jsonOption()],
  })
}

/** With `json` it asks nothing: missing options take their defaults. */
async function run(options: Options, program: string): Promise<void> {
  const { print, say } = ownTerminal()
  const { initOnTerminal } = await import('../init/init-on-terminal.ts')
  const write = (text: string) => void process.stdout.write(text)
  const { json = false, dryRun = false } = options
  const done = await initOnTerminal(options, program, { write, quiet: json })
  if (json) return print(jsonText({ dry_run: dryRun, done: done.lines }))
  if (done.isDeclined) return say('Nothing was written.')
  if (dryRun && done.lines.length > 0) write('This would be written:\n\n')
  for (const line of done.lines) write(`${dryRun ? '  ' : ''}${line}\n`)
  if (done.lines.length === 0) write('Nothing to do: everything is set up already\n')
  if (!dryRun) for (const line of nextSteps(done)) say(line)
}

/** The next two commands, by who plans. */
function nextSteps({ agent, inTerminal }: { agent: string | null; inTerminal: boolean }): string[] {
  const create = '  casefile new "What is wrong" --type bug'
  if (agent !== null && inTerminal) {
    return [
      '',
      'Next:',
      '  casefile serve --open',
      `  ${agent}   (in another terminal; docs/hooks.md)`,
    ]
  }
  if (agent === 'none' || agent === OWN_PROVIDER) {
    return [
      '',
      'Next:',
      create,
      '  casefile serve --open   (write a runbook for the case: docs/runbooks.md)',
    ]
  }
  if (agent === null) return ['', 'Next:', '  casefile doctor', create]
  return ['', 'Next:', create, '  casefile start "what is"']
}
