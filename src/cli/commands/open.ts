import { join } from 'node:path'
import { Command } from 'commander'
import { AppError } from '../../model/app-error.ts'
import { findService } from '../../state/owner/find-owner.ts'
import { CASES, casePage } from '../../web/shell/addresses.ts'
import { layoutOf } from '../../workspace/layout.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { editFile } from '../editor.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

interface Options extends CommandOptions {
  print?: boolean
  folder?: boolean
  edit?: boolean
}

export function command(): Command {
  const open = new Command('open')
    .description('Open the console, or the page of a case, in the browser.')
    .addArgument(caseArgument().argOptional())
    .option('--print', 'Only print its address.')
    .option('--edit', 'Open case.md in $VISUAL or $EDITOR instead.')
    .option('--folder', 'Print the path of its folder instead.')
    .action((name: string | undefined, options: Options) =>
      withReader(options, (context) => run(context, name, options)),
    )
  return explain(open, {
    examples: [
      ['casefile open', 'Look at the cases.'],
      ['casefile open "sign-in"', 'Look at the page of a case.'],
      ['cd "$(casefile open c12d --folder)"', 'Go to its files.'],
    ],
    more: 'It finds the service that runs for this workspace, whatever its port.',
    exits: [EXIT.unknown],
  })
}

async function run(
  { client, terminal, json, workspace, signal }: ReadContext,
  name: string | undefined,
  { print, folder, edit }: Options,
): Promise<ExitCode> {
  const id = name === undefined ? null : await resolveCase(client, name)
  if (id !== null) await client.request('GET', `/cases/${id}`)
  if (folder || edit) {
    if (id === null) throw new AppError('bad_request', 'Name the case whose files you want.')
    const path = layoutOf(workspace.root, workspace.memoryRoot).caseFolder(id)
    terminal.print(json ? jsonText({ folder: path }) : `${path}\n`)
    if (edit) await editFile(join(path, 'case.md'), signal)
    return EXIT.done
  }
  const service = await findService(workspace)
  if (service === null) {
    throw new AppError(
      'bad_request',
      'No service is running, and its pages need one. Start it with: casefile serve',
    )
  }
  const url = service + (id === null ? CASES : casePage(id))
  terminal.print(json ? jsonText({ url }) : `${url}\n`)
  if (!print) {
    const { default: openInBrowser } = await import('open')
    await openInBrowser(url)
  }
  return EXIT.done
}
