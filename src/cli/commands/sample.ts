import { Command } from 'commander'
import { explain, jsonOption, type ProgramContext } from '../command.ts'
import { jsonText } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'

interface Options {
  keep?: boolean
  force?: boolean
  json?: boolean
}

export function command({ sample }: ProgramContext): Command {
  const copy = new Command('sample')
    .description('Copy the sample workspace into a new git repository.')
    .argument('<dir>', 'Folder to create.')
    .option('--keep', 'Keep an existing copy, and print nothing.')
    .option('--force', 'Replace an existing copy.')
    .action((dir: string, options: Options) => run(sample, dir, options))
  return explain(copy, {
    examples: [['casefile sample try-it', 'Something to play with.']],
    shared: [jsonOption()],
  })
}

async function run(sample: string, dir: string, options: Options): Promise<void> {
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
