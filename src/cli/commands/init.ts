import { Command, Option } from 'commander'
import type { InitOptions } from '../../init/deps.ts'
import type { MEMORY_KINDS } from '../../init/git-memory.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain, jsonOption, type ProgramContext, rootOption } from '../command.ts'
import { jsonText } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'

/** Duplicates `MEMORY_KINDS`: importing it would load everything about git for the help. */
const MEMORY_WAYS: typeof MEMORY_KINDS = ['with-code', 'own-repo', 'orphan-worktree']

interface Options extends InitOptions {
  json?: boolean
  agent?: string
  inTerminal?: boolean
  tests?: string
}

export function command({ program }: ProgramContext): Command {
  const init = new Command('init')
    .description('Set up a workspace; asks how git should keep the cases.')
    .addOption(
      new Option('--memory <way>', 'How git keeps the cases; see docs/git.md.').choices(
        MEMORY_WAYS,
      ),
    )
    .option('--agent <name>', 'Who plans new sessions, such as claude; none for runbooks only.')
    .option('--in-terminal', 'Also install the hooks of the agent, for work in your own terminal.')
    .option('--tests <command>', 'How the tests are run; none takes it away.')
    .option('--hook', 'Install a pre-commit hook that runs casefile check.')
    .option('--no-hook', 'Install no hook.')
    .option('--yes', 'Accept defaults without prompting: with-code, and the hook.')
    .action((options: Options) => run(options, program))
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
  if (!options.json) {
    const { initOnTerminal } = await import('../init/init-on-terminal.ts')
    await initOnTerminal(options, program)
    for (const file of await changeSettings(options)) say(`Wrote ${visibleText(file)}`)
    for (const line of NEXT) say(line)
    return
  }
  const { init } = await import('../../init/init-command.ts')
  const done: string[] = []
  await init(options, { program, say: (line) => void done.push(line), operator: null })
  done.push(...(await changeSettings(options)).map((file) => `Wrote ${file}`))
  print(jsonText({ done }))
}

/** Changes just the settings that options name. Returns the written files. */
async function changeSettings({ root, agent, inTerminal, tests }: Options): Promise<string[]> {
  if (agent === undefined && inTerminal === undefined && tests === undefined) return []
  const [{ createSetup, ALL_TESTS_PASS }, { openPlaces }, { layoutOf }] = await Promise.all([
    import('../../init/setup.ts'),
    import('../../workspace/settings/places.ts'),
    import('../../workspace/layout.ts'),
  ])
  const places = await openPlaces({ root }, process.env, ownTerminal().warn)
  const layout = layoutOf(places.root, places.memoryRoot)
  const { checklist } = await places.settings()
  const proves = tests !== undefined && tests !== 'none' && checklist.length === 0
  const setup = createSetup({
    ...places,
    layout,
    environment: process.env,
    providers: { statuses: async () => [] },
  })
  return setup.change({
    provider: agent === 'none' ? OWN_PROVIDER : agent,
    in_terminal: inTerminal,
    tests: tests === 'none' ? null : tests,
    checklist: proves ? [ALL_TESTS_PASS] : undefined,
  })
}

const NEXT = [
  '',
  'Next:',
  '  casefile doctor                which agents can be used here',
  '  casefile new "What is wrong"   create a case',
  '  casefile serve --open          open the console in the browser',
]
