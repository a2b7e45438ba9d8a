import { Command, Option } from 'commander'
import { type ProgramContext, SHARED_OPTIONS } from './command.ts'

export type Make = (context: ProgramContext) => Command

/** Commands by name, by their section of the help. */
export type Sections = Readonly<Record<string, Readonly<Record<string, Make>>>>

/** The program with these commands. It throws errors, which `runProgram` catches. */
export function casefile(context: ProgramContext, commands: Sections): Command {
  const program = new Command('casefile')
    .description(
      'Keeps the record of AI-assisted work in markdown files: what was planned, approved, done and proved.',
    )
    .version(context.version, '-V, --version', 'Print the version.')
    .helpCommand('help [command]', 'Show help for a command.')
    .showHelpAfterError('casefile --help lists the commands.')
    .exitOverride()
  for (const [part, makes] of Object.entries(commands)) {
    for (const make of Object.values(makes)) {
      program.addCommand(make(context).helpGroup(`${part}:`))
    }
  }
  inherit(program)
  program.addHelpOption(helpOption())
  return program
}

function helpOption(): Option {
  return new Option('-h, --help', 'Show this help.')
}

/** Gives subcommands the settings that `command()` would copy. */
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
