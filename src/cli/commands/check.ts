import { Command, Option } from 'commander'
import type { CheckOptions } from '../../check/check-command.ts'
import { explain, memoryRootOption, rootOption, stateDirOption } from '../command.ts'
import { ownTerminal } from '../output/terminal.ts'
import { wrapped } from '../output/wrapped.ts'

export function command(): Command {
  const check = new Command('check')
    .description('Look for problems in the files. Needs no service.')
    .option('--fix', 'Fix problems that have one right solution.')
    .action(async (options: CheckOptions) => {
      const { check } = await import('../../check/check-command.ts')
      const { print, width } = ownTerminal()
      process.exitCode = await check(options, (text) => print(wrapped(text, width(), '    ')))
    })
  return explain(check, {
    examples: [['casefile check --fix', 'Fix what can be fixed, then list the rest.']],
    more: 'Exit codes: 0 no problems, 1 there are problems, 2 it could not check.',
    shared: [
      rootOption(),
      memoryRootOption(),
      stateDirOption(),
      new Option('--json', 'Print the problems as one JSON array.'),
    ],
  })
}
