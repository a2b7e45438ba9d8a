import { Command } from 'commander'
import { KNOWN_PROOF_TYPES } from '../../model/known-words.ts'
import type { ItemOptions } from '../commands/item.ts'
import type { ProofAddOptions, ProofVerifyOptions } from '../commands/proof.ts'
import type { ConsoleOptions } from '../console.ts'
import { EXIT } from '../output/exit-codes.ts'
import { caseArgument, consoleCommand } from './arguments.ts'
import { atConsole, atReading } from './at-console.ts'
import { explained } from './explained.ts'

/** Evidence, and the gate that asks for it. */
export function proofCommands(): Command[] {
  const proof = new Command('proof').description('attach evidence to a case, and verify it')
  for (const command of [addCommand(), showCommand(), verifyCommand(), listCommand()])
    proof.addCommand(command)
  return [proof, itemCommand(), gateCommand()]
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
    .option('--verify', 'verify it too, if it supports its claim')
    .action(async (name: string, file: string | undefined, options: ProofAddOptions) => {
      const { addProof } = await import('../commands/proof.ts')
      await atConsole(options, (console) => addProof(console, name, file, options))
    })
  return explained(command, {
    examples: [
      ['casefile proof add "sign-in" --artifact 1-test.tap', 'what session 1 left'],
      ['npm test | casefile proof add c12d -', 'what a command prints'],
    ],
    exits: [EXIT.unknown],
  })
}

function showCommand(): Command {
  const command = consoleCommand('show', 'print a proof with its content')
    .addArgument(caseArgument())
    .argument('<proof>', 'its id, or the beginning of it')
    .action(async (name: string, word: string, options: ConsoleOptions) => {
      const { showProof } = await import('../commands/proof.ts')
      await atReading(options, (console) => showProof(console, name, word))
    })
  return explained(command, {
    examples: [['casefile proof show "sign-in" 9f3c', 'to read it before it is verified']],
    exits: [EXIT.unknown],
  })
}

function verifyCommand(): Command {
  const command = consoleCommand('verify', 'mark a proof as verified')
    .addArgument(caseArgument())
    .argument('[proof]', 'its id, or the beginning of it')
    .option('--all', 'all that are not verified yet and support their claim')
    .option('--accept <reason>', 'why it counts although it does not support its claim')
    .action(async (name: string, word: string | undefined, options: ProofVerifyOptions) => {
      const { verifyProof } = await import('../commands/proof.ts')
      await atConsole(options, (console) => verifyProof(console, name, word, options))
    })
  return explained(command, {
    examples: [
      ['casefile proof verify "sign-in" 9f3c', 'one of its proofs'],
      [
        'casefile proof verify "sign-in" 9f3c --accept "Both failures are known: case 4711"',
        'one with failures',
      ],
    ],
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

function itemCommand(): Command {
  const command = consoleCommand('item', 'add an item to the proof checklist of a case')
    .addArgument(caseArgument())
    .argument('<text>', 'what the proof should show, on one line')
    .option('--type <type>', 'the type of proof that serves it', 'test-log')
    .option('--required', 'the case cannot be resolved without it')
    .action(async (name: string, text: string, options: ItemOptions) => {
      const { addItem } = await import('../commands/item.ts')
      await atConsole(options, (console) => addItem(console, name, text, options))
    })
  return explained(command, {
    examples: [
      ['casefile item "sign-in" "All tests pass" --required', 'a test log opens the gate'],
      ['casefile item c12d "Seen in the browser" --type screenshot', 'optional'],
    ],
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
