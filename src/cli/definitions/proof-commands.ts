import { Command } from 'commander'
import { KNOWN_PROOF_TYPES } from '../../model/known-words.ts'
import type { ProofAddOptions } from '../commands/proof.ts'
import type { ConsoleOptions } from '../console.ts'
import { EXIT } from '../exit-codes.ts'
import { caseArgument, consoleCommand } from './arguments.ts'
import { atConsole, atReading } from './at-console.ts'
import { explained } from './explained.ts'

/** Evidence, and the gate that asks for it. */
export function proofCommands(): Command[] {
  const proof = new Command('proof').description('attach evidence to a case, and verify it')
  for (const command of [addCommand(), verifyCommand(), listCommand()]) proof.addCommand(command)
  return [proof, gateCommand()]
}

function addCommand(): Command {
  const command = consoleCommand('add', 'attach a proof')
    .addArgument(caseArgument())
    .argument('[file]', 'a text file; - reads standard input')
    .option(
      '--type <type>',
      `what kind of proof it is: ${KNOWN_PROOF_TYPES.join(', ')}, or a word of your own`,
      'test-log',
    )
    .option('--artifact <name>', 'a candidate that a session left, in place of a file')
    .option('--text <text>', 'the proof itself, in place of a file')
    .option('--session <session>', 'the session that it comes from: its number, id, or latest')
    .option('--verify', 'verify it too')
    .action(async (name: string, file: string | undefined, options: ProofAddOptions) => {
      const { addProof } = await import('../commands/proof.ts')
      await atConsole(options, (console) => addProof(console, name, file, options))
    })
  return explained(command, {
    examples: [
      ['casefile proof add "sign-in" --artifact 1-test.tap --verify', 'what session 1 left'],
      ['npm test | casefile proof add c12d -', 'what a command prints'],
    ],
    exits: [EXIT.unknown],
  })
}

function verifyCommand(): Command {
  const command = consoleCommand('verify', 'say that a proof was looked at, and holds')
    .addArgument(caseArgument())
    .argument('[proof]', 'its id, or the beginning of it')
    .option('--all', 'all that are not verified yet')
    .action(
      async (
        name: string,
        word: string | undefined,
        options: ConsoleOptions & { all?: boolean },
      ) => {
        const { verifyProof } = await import('../commands/proof.ts')
        await atConsole(options, (console) => verifyProof(console, name, word, options))
      },
    )
  return explained(command, {
    examples: [['casefile proof verify "sign-in" 9f3c', 'one of its proofs']],
    exits: [EXIT.unknown],
  })
}

function listCommand(): Command {
  const command = consoleCommand('list', 'list the proofs of a case')
    .addArgument(caseArgument())
    .action(async (name: string, options: ConsoleOptions) => {
      const { listProof } = await import('../commands/proof-list.ts')
      await atReading(options, (console) => listProof(console, name))
    })
  return explained(command, {
    examples: [['casefile proof list "sign-in"', 'the newest first']],
    exits: [EXIT.unknown],
  })
}

function gateCommand(): Command {
  const command = consoleCommand('gate', 'say what is missing before a case can be resolved')
    .addArgument(caseArgument())
    .action(async (name: string, options: ConsoleOptions) => {
      const { gate } = await import('../commands/gate.ts')
      await atReading(options, (console) => gate(console, name))
    })
  return explained(command, {
    examples: [
      ['casefile gate "sign-in" && casefile resolve "sign-in"', 'close it if it is proved'],
    ],
    exits: [EXIT.unknown, EXIT.gateShut],
  })
}
