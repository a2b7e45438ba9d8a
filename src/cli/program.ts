import { Command, Option } from 'commander'
import { defaultSubcommand, type ProgramContext, SHARED_OPTIONS } from './command.ts'
import { wrapped } from './output/wrapped.ts'

export type Make = (context: ProgramContext) => Command

/** Commands by name, by their section of the help: listed with what they do, listed by name, and for scripts. */
export type Sections = Partial<
  Record<'Commands' | 'More' | 'Hidden', Readonly<Record<string, Make>>>
>

/** The program with these commands. It throws errors, which `runProgram` catches. */
export function casefile(context: ProgramContext, sections: Sections): Command {
  const program = new Command('casefile')
    .description('The record of AI-assisted work in markdown: planned, approved, done, proved.')
    .version(context.version, '-V, --version', 'Print the version.')
    .helpCommand('help [command]', 'Show help for a command.')
    .showHelpAfterError('casefile --help lists the commands.')
    .exitOverride()
  for (const [section, makes] of Object.entries(sections)) {
    for (const make of Object.values(makes)) {
      program.addCommand(make(context).helpGroup(section), { hidden: section === 'Hidden' })
    }
  }
  inherit(program)
  program.addHelpOption(helpOption())
  return program.configureHelp({ formatHelp: () => programHelp(program) })
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
    if (!isLeaf) command.configureHelp({ formatHelp: () => groupHelp(command, name) })
  }
}

/** Fits on a screen of 24 lines. */
function programHelp(program: Command): string {
  const of = (section: string) => program.commands.filter((each) => each.helpGroup() === section)
  const more = of('More').map((each) => each.name())
  return text([
    program.description(),
    '',
    'Usage: casefile <command>     casefile <command> --help says more',
    '',
    ...rows(of('Commands')),
    '',
    `More: ${more.join(', ')}`,
  ])
}

function groupHelp(group: Command, name: string): string {
  const usual = defaultSubcommand(group)
  const alone = usual ? `${name} ${usual.usage().replace('[options] ', '')}, or ` : ''
  return text([
    group.description(),
    '',
    `Usage: ${alone}${name} <command>`,
    '',
    ...rows(group.commands),
    '',
    `${name} <command> --help says more.`,
  ])
}

function rows(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map((each) => each.name().length))
  return commands.map(
    (each) => `  ${each.name().padEnd(width)}  ${each.summary() || each.description()}`,
  )
}

function text(lines: readonly string[]): string {
  return `${wrapped(lines.join('\n'), process.stdout.columns || 80, '      ')}\n`
}
