import { Command } from 'commander'
import { explain, jsonOption, type ProgramContext } from '../command.ts'
import { EXIT } from '../output/exit-codes.ts'
import { ask } from '../question.ts'

interface Options {
  yes?: boolean
  open?: boolean
  keep?: boolean
  json?: boolean
}

export function command({ sample, program }: ProgramContext): Command {
  const demo = new Command('demo')
    .description('See the whole flow in two minutes, with a scripted agent.')
    .option('--open', 'Open the case in the browser, to watch it there.')
    .option('--yes', 'Go through without waiting, and approve without asking.')
    .option('--keep', 'Keep its temporary workspace.')
    .action(async (options: Options) => {
      const { demo } = await import('../../demo/demo.ts')
      process.exit(await demo({ sample, program, ask }, options)) // see serve
    })
  return explain(demo, {
    examples: [
      ['casefile demo --open', 'Watch it in the browser, too.'],
      ['casefile demo --yes --keep', 'Look around in it afterwards.'],
    ],
    exits: [EXIT.interrupted],
    more: 'It runs in a temporary workspace. Enter goes on. With --json the story goes to standard error, and the result to standard output.',
    shared: [jsonOption()],
  })
}
