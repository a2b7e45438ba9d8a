import { Command, Option } from 'commander'
import type { MEMORY_KINDS } from '../../git/memory-kind.ts'
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
    .summary('Set up a workspace: who plans, and what proves the work.')
    .description('Set up a workspace; asks who plans, and what proves that work is good.')
    .addOption(
      new Option(
        '--memory <way>',
        'How git keeps the cases: in the repository, in another one, or on a branch.',
      ).choices(MEMORY_WAYS),
    )
    .option('--agent <name>', 'Who plans new sessions, such as claude; none for runbooks only.')
    .option('--in-terminal', 'You start the agent in your own terminal; installs its hooks.')
    .option('--spawned', 'Casefile starts the agent; installs no hooks.')
    .option('--tests <command>', 'How the tests are run; none takes it away.')
    .option('--sign', 'Ask for a signature at each approval; adds your SSH key to allowed_signers.')
    .option('--no-sign', 'Do not ask for signatures.')
    .option(
      '--hook',
      'Install git hooks: pre-commit runs casefile doctor --check, commit-msg names sessions.',
    )
    .option('--no-hook', 'Install no git hook.')
    .option(
      '--yes',
      'Ask nothing: the only agent that is logged in, the tests that were found, with-code, and the git hooks.',
    )
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
  const { print, say, warn, width } = ownTerminal()
  const [{ initOnTerminal }, { brokenLines }] = await Promise.all([
    import('../init/init-on-terminal.ts'),
    import('../init/init-writer.ts'),
  ])
  const write = (text: string) => void process.stdout.write(brokenLines(text, width()))
  const { json = false, dryRun = false } = options
  const done = await initOnTerminal(options, program, { write, warn, quiet: json })
  if (json)
    return print(
      jsonText({ dry_run: dryRun, done: [...done.lines, ...done.notes], wrote: done.wrote }),
    )
  if (done.isDeclined) return say('Nothing was written.')
  if (dryRun && done.lines.length > 0) write('This would be written:\n\n')
  for (const line of done.lines) write(`${dryRun ? '  ' : ''}${line}\n`)
  if (done.lines.length === 0) write('Nothing to do: everything is set up already\n')
  if (dryRun && done.notes.length > 0) write('\n')
  for (const note of done.notes) write(`${note}\n`)
  if (dryRun) return
  const { nextLines } = await import('../init/next-steps.ts')
  for (const line of await nextLines(options.root, done)) say(line)
}
