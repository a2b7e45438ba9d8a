import { Command } from 'commander'
import { explain, jsonOption, type ProgramContext } from '../command.ts'
import { EXIT } from '../output/exit-codes.ts'

interface Options {
  yes?: boolean
  keep?: boolean
  json?: boolean
}

export function command({ sample }: ProgramContext): Command {
  const demo = new Command('demo')
    .description('Play the whole flow on a temporary copy of the sample workspace.')
    .option('--yes', 'Approve the plan without asking.')
    .option('--keep', 'Keep the temporary copy, to look around in it.')
    .action(async (options: Options) => {
      const { demo } = await import('../../demo/demo.ts')
      process.exit(await demo(sample, options)) // see serve
    })
  return explain(demo, {
    examples: [['casefile demo --keep', 'Look around in it afterwards.']],
    exits: [EXIT.interrupted],
    more: 'With --json the story goes to standard error, and the result to standard output.',
    shared: [jsonOption()],
  })
}
