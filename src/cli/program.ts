import { Command, Option } from 'commander'
import { type ProgramContext, SHARED_OPTIONS } from './command.ts'

type Load = () => Promise<{ command(context: ProgramContext): Command }>

/** All commands by the part of the help in which they are listed. Each has its own file, loaded when it is called. */
const COMMANDS: Record<string, Record<string, Load>> = {
  Cases: {
    new: () => import('./commands/new.ts'),
    list: () => import('./commands/list.ts'),
    search: () => import('./commands/search.ts'),
    show: () => import('./commands/show.ts'),
    history: () => import('./commands/history.ts'),
    edit: () => import('./commands/edit.ts'),
    resolve: () => import('./commands/resolve.ts'),
    state: () => import('./commands/state.ts'),
    answer: () => import('./commands/answer.ts'),
    note: () => import('./commands/note.ts'),
    open: () => import('./commands/open.ts'),
    delete: () => import('./commands/delete.ts'),
    import: () => import('./commands/import.ts'),
    export: () => import('./commands/export.ts'),
  },
  Sessions: {
    start: () => import('./commands/start.ts'),
    plan: () => import('./commands/plan.ts'),
    approve: () => import('./commands/approve.ts'),
    revise: () => import('./commands/revise.ts'),
    abandon: () => import('./commands/abandon.ts'),
    tail: () => import('./commands/tail.ts'),
  },
  Proof: {
    proof: () => import('./commands/proof.ts'),
    item: () => import('./commands/item.ts'),
    gate: () => import('./commands/gate.ts'),
  },
  'The service': {
    serve: () => import('./commands/serve.ts'),
    webhook: () => import('./commands/webhook.ts'),
    mcp: () => import('./commands/mcp.ts'),
    demo: () => import('./commands/demo.ts'),
  },
  'The workspace': {
    init: () => import('./commands/init.ts'),
    check: () => import('./commands/check.ts'),
    doctor: () => import('./commands/doctor.ts'),
    trust: () => import('./commands/trust.ts'),
    sample: () => import('./commands/sample.ts'),
    completion: () => import('./commands/completion.ts'),
  },
}

export const COMMAND_NAMES: readonly string[] = Object.values(COMMANDS).flatMap(Object.keys)

/** The program with the command that is named, or with all of them. Errors are thrown, for `runProgram`. */
export async function casefile(context: ProgramContext, name?: string): Promise<Command> {
  const program = new Command('casefile')
    .description(
      'Keeps the record of AI-assisted work in markdown files: what was planned, approved, done and proved.',
    )
    .version(context.version, '-V, --version', 'Print the version.')
    .helpCommand('help [command]', 'Show help for a command.')
    .showHelpAfterError('casefile --help lists the commands.')
    .exitOverride()
  const isOne = name !== undefined && COMMAND_NAMES.includes(name)
  for (const [part, commands] of Object.entries(COMMANDS)) {
    for (const [each, load] of Object.entries(commands)) {
      if (isOne && each !== name) continue
      const { command } = await load()
      program.addCommand(command(context).helpGroup(`${part}:`))
    }
  }
  inherit(program)
  program.addHelpOption(helpOption())
  return program
}

function helpOption(): Option {
  return new Option('-h, --help', 'Show this help.')
}

/** As `command()` would do for commands that are made in place. */
function inherit(parent: Command, path = parent.name()): void {
  for (const command of parent.commands) {
    const name = `${path} ${command.name()}`
    command.copyInheritedSettings(parent)
    const isLeaf = command.commands.length === 0
    command.addHelpOption(isLeaf ? helpOption().helpGroup(SHARED_OPTIONS) : helpOption())
    command.showHelpAfterError(`Usage: ${name} ${command.usage()}\n${name} --help says more.`)
    inherit(command, name)
  }
}
