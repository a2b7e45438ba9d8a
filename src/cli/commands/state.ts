import { Command } from 'commander'
import { caseArgument, explain } from '../command.ts'
import { withService } from '../context.ts'
import { EXIT } from '../output/exit-codes.ts'
import { OUTCOME_HELP, type StateOptions, setState } from './resolve.ts'

export function command(): Command {
  const state = new Command('state')
    .description('Set the state of a case.')
    .addArgument(caseArgument())
    .argument('<state>', 'A state such as BLOCKED or WONT_FIX, case-insensitive.')
    .option('--outcome <outcome>', OUTCOME_HELP)
    .option('--reason <text>', 'Why.')
    .action((name: string, wanted: string, options: StateOptions) =>
      withService(options, (context) => setState(context, name, wanted, options)),
    )
  return explain(state, {
    examples: [
      ['casefile state c12d blocked --reason "Waiting for operations"', 'Mark it as blocked.'],
    ],
    exits: [EXIT.unknown, EXIT.gateShut],
  })
}
