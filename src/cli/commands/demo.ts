import { Command } from 'commander'
import { explain, jsonOption, type ProgramContext } from '../command.ts'
import { EXIT } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'
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

interface SampleOptions {
  keep?: boolean
  force?: boolean
  json?: boolean
}

/** `casefile sample`, for those who work on the program. */
export function sampleCommand({ sample }: ProgramContext): Command {
  const copy = new Command('sample')
    .description('Copy the sample workspace into a new git repository.')
    .argument('<dir>', 'Folder to create.')
    .option('--keep', 'Keep an existing copy, and print nothing.')
    .option('--force', 'Replace an existing copy.')
    .action((dir: string, options: SampleOptions) => copyHere(sample, dir, options))
  return explain(copy, {
    examples: [['casefile sample try-it', 'Something to play with.']],
    shared: [jsonOption()],
  })
}

async function copyHere(sample: string, dir: string, options: SampleOptions): Promise<void> {
  const { print, warn } = ownTerminal()
  const { copySample } = await import('../../demo/sample-copy.ts')
  const { made, git } = await copySample(sample, dir, options)
  if (options.json) print(jsonText({ folder: dir, made, git }))
  else if (made && !options.keep) {
    warn(
      `${dir} is a fresh copy of the sample workspace\nNext: casefile serve --root ${dir} --open`,
    )
  }
}
