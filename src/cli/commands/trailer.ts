import { Command, Option } from 'commander'
import { visibleText } from '../../model/visible-text.ts'
import { explain, memoryRootOption, rootOption } from '../command.ts'
import { findWorkspace, type WorkspaceOptions } from '../find-workspace.ts'
import { escapeHidden } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'

interface Options extends WorkspaceOptions {
  json?: boolean
  message?: string
}

export function command(): Command {
  const trailer = new Command('trailer')
    .description('Print the lines that name, in a commit, the sessions whose work is staged.')
    .option(
      '--message <file>',
      'Add them to this message: for a commit-msg hook, which it never stops.',
    )
    .action(async ({ message, json = false, ...options }: Options) => {
      const terminal = ownTerminal()
      const { trailer } = await import('../../verify/trailer-command.ts')
      const { root, memoryRoot } = await findWorkspace(options)
      process.exitCode = await trailer({ root, memoryRoot, message, json }, process.env, {
        print: (text) => terminal.print(json ? escapeHidden(text) : text),
        warn: (line) => terminal.warn(visibleText(line)),
      })
    })
  return explain(trailer, {
    examples: [
      ['casefile trailer', 'What would a commit name?'],
      ['casefile trailer --message "$1"', 'In a commit-msg hook of yours.'],
    ],
    more: 'casefile init --hook installs such a hook. docs/verify.md says which sessions are named.',
    shared: [
      rootOption(),
      memoryRootOption(),
      new Option('--json', 'Print the sessions as one JSON array.'),
    ],
  })
}
