import { Command } from 'commander'
import { CASE_FIELDS } from '../../model/case-fields.ts'
import { caseArgument, explain } from '../command.ts'
import { withService } from '../context.ts'
import { fieldOption } from '../field-options.ts'
import { EXIT } from '../output/exit-codes.ts'
import { type StateOptions, setState } from './resolve.ts'

export function command(): Command {
  const state = new Command('state')
    .description('Set the state of a case.')
    .addArgument(caseArgument())
    .argument('<state>', 'A state such as BLOCKED or WONT_FIX, case-insensitive.')
    .addOption(fieldOption(CASE_FIELDS.outcome))
    .addOption(fieldOption(CASE_FIELDS.reason))
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
