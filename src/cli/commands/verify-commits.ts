import { Argument, Command, Option } from 'commander'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { VerifyOptions } from '../../verify/verify.ts'
import type { Format } from '../../verify/verify-command.ts'
import { explain, memoryRootOption, rootOption } from '../command.ts'
import { findWorkspace, type WorkspaceOptions } from '../find-workspace.ts'
import { exiting, usageError } from '../output/exit-codes.ts'
import { escapeHidden } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'
import { wrapped } from '../output/wrapped.ts'

interface Options extends Omit<VerifyOptions, 'range'> {
  json?: boolean
  junit?: boolean
  markdown?: boolean
  inToto?: boolean
}

export function command(): Command {
  const verify = new Command('verify-commits')
    .description('Check what commits claim, against the record. Needs no service.')
    .addArgument(
      new Argument(
        '[range]',
        'Commits as git names them, such as main..HEAD. Default: those of the pull request in CI; else those that origin has not; else all.',
      ),
    )
    .option(
      '--require-trailer',
      'A commit that names no session fails, if it changes more than the record.',
    )
    .option('--require-signature', 'An approval that is not signed fails.')
    .option(
      '--allowed-signers <file>',
      'The keys that count. Default: allowed_signers in the commit before the range.',
    )
    .option('--junit', 'Print JUnit XML.')
    .option('--markdown', 'Print a summary for a comment.')
    .option('--in-toto', 'Print in-toto statements, one line of JSON each.')
    .action(async (range: string | undefined, options: Options) => {
      const { verify, VERIFY_EXIT } = await import('../../verify/verify-command.ts')
      const { print, width } = ownTerminal()
      const format = formatOf(options)
      try {
        process.exitCode = await verify({ ...options, range, format }, (text) => {
          if (format === 'text') print(wrapped(text, width(), '      '))
          else print(format === 'json' || format === 'in-toto' ? escapeHidden(text) : text)
        })
      } catch (error) {
        throw error instanceof AppError ? exiting(VERIFY_EXIT.failed, error) : error
      }
    })
  return explain(verify, {
    examples: [
      ['casefile verify-commits', 'The commits of this branch.'],
      ['casefile verify-commits v1.2..v1.3 --json', 'A release, for a script.'],
    ],
    more: 'Exit codes: 0 every claim is true, 1 a claim is false, 2 it could not check. docs/verify.md lists the checks.',
    shared: [
      rootOption(),
      memoryRootOption(),
      new Option('--json', 'Print the result as one JSON document.'),
    ],
  })
}

function formatOf({ json, junit, markdown, inToto }: Options): Format {
  const chosen: Format[] = []
  if (json) chosen.push('json')
  if (junit) chosen.push('junit')
  if (markdown) chosen.push('markdown')
  if (inToto) chosen.push('in-toto')
  if (chosen.length > 1) throw usageError('Choose one of --json, --junit, --markdown, --in-toto.')
  return chosen[0] ?? 'text'
}

interface TrailerOptions extends WorkspaceOptions {
  json?: boolean
  message?: string
}

/** `casefile trailer`, for a commit-msg hook. */
export function trailerCommand(): Command {
  const trailer = new Command('trailer')
    .description('Print the lines that name, in a commit, the sessions whose work is staged.')
    .option(
      '--message <file>',
      'Add them to this message: for a commit-msg hook, which it never stops.',
    )
    .action(async ({ message, json = false, ...options }: TrailerOptions) => {
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
