import { Command, Option } from 'commander'
import type { InitOptions } from '../../init/deps.ts'
import type { MEMORY_KINDS } from '../../init/git-memory.ts'
import { explain, jsonOption, type ProgramContext, rootOption } from '../command.ts'
import { jsonText } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'

/** Duplicates `MEMORY_KINDS`: importing it would load everything about git for the help. */
const MEMORY_WAYS: typeof MEMORY_KINDS = ['with-code', 'own-repo', 'orphan-worktree']

interface Options extends InitOptions {
  json?: boolean
}

export function command({ program }: ProgramContext): Command {
  const init = new Command('init')
    .description('Set up a workspace; asks how git should keep the cases.')
    .addOption(
      new Option('--memory <way>', 'How git keeps the cases; see docs/git.md.').choices(
        MEMORY_WAYS,
      ),
    )
    .option('--hook', 'Install a pre-commit hook that runs casefile check.')
    .option('--no-hook', 'Install no hook.')
    .option('--yes', 'Accept defaults without prompting: with-code, and the hook.')
    .action((options: Options) => run(options, program))
  return explain(init, {
    examples: [['casefile init --yes', 'Set up this folder without a question.']],
    shared: [rootOption(), jsonOption()],
  })
}

/** With `json` it asks nothing: missing options take their defaults. */
async function run(options: Options, program: string): Promise<void> {
  const { print, say } = ownTerminal()
  if (!options.json) {
    const { initOnTerminal } = await import('../init/init-on-terminal.ts')
    await initOnTerminal(options, program)
    for (const line of NEXT) say(line)
    return
  }
  const { init } = await import('../../init/init-command.ts')
  const done: string[] = []
  await init(options, { program, say: (line) => void done.push(line), operator: null })
  print(jsonText({ done }))
}

const NEXT = [
  '',
  'Next:',
  '  casefile doctor                which agents can be used here',
  '  casefile new "What is wrong"   create a case',
  '  casefile serve --open          open the console in the browser',
]
