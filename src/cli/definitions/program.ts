import { Command } from 'commander'
import { caseCommands } from './case-commands.ts'
import { exchangeCommands } from './exchange-commands.ts'
import { proofCommands } from './proof-commands.ts'
import { serviceCommands } from './service-commands.ts'
import { sessionCommands } from './session-commands.ts'
import { setupCommands } from './setup-commands.ts'

export interface ProgramNeeds {
  version: string
  /** Where the sample workspace is. */
  sample: string
  /** The program's own path. */
  program: string
}

/** The parts of the help and of the docs, in their order. */
export const PARTS = {
  cases: 'Cases',
  sessions: 'Sessions',
  proof: 'Proof',
  service: 'The service',
  setup: 'The workspace',
} as const

/** All commands; what carries them out is loaded when one is called. Errors are thrown, for `cli.ts`. */
export function casefile(needs: ProgramNeeds): Command {
  const program = new Command('casefile')
    .description(
      'Keeps the record of AI-assisted work in markdown files: what was planned, approved, done and proved.',
    )
    .version(needs.version)
    .showHelpAfterError('casefile --help lists the commands.')
    .exitOverride()
  const parts: Record<keyof typeof PARTS, Command[]> = {
    cases: [...caseCommands(), ...exchangeCommands()],
    sessions: sessionCommands(),
    proof: proofCommands(),
    service: serviceCommands(needs.sample),
    setup: setupCommands(needs),
  }
  for (const [part, commands] of Object.entries(parts)) {
    for (const command of commands) {
      program.addCommand(command.helpGroup(`${PARTS[part as keyof typeof PARTS]}:`))
    }
  }
  inherit(program)
  return program
}

/** As `command()` would do for commands that are made in place. */
function inherit(parent: Command, path = parent.name()): void {
  for (const command of parent.commands) {
    const name = `${path} ${command.name()}`
    command.copyInheritedSettings(parent)
    command.showHelpAfterError(`Usage: ${name} ${command.usage()}\n${name} --help says more.`)
    inherit(command, name)
  }
}
