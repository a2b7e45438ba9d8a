import { join } from 'node:path'
import { Refusal } from '../../model/refusal.ts'
import { casePage } from '../../web/shell/addresses.ts'
import { layoutOf } from '../../workspace/layout.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { editFile } from '../editor.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { jsonText } from '../output/json.ts'

export interface OpenOptions extends ConsoleOptions {
  print?: boolean
  folder?: boolean
  edit?: boolean
}

/** `casefile open`: the page of a case in the browser, its file in the editor, or where its folder is. */
export async function open(
  { client, terminal, json, workspace, isLasting, signal }: Console,
  name: string,
  { print, folder, edit }: OpenOptions,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  await client.request('GET', `/cases/${id}`)
  const layout = layoutOf(workspace.root, workspace.memoryRoot)
  const path = layout.caseFolder(id)
  if (folder || edit) {
    terminal.print(json ? jsonText({ folder: path }) : `${path}\n`)
    if (edit) await editFile(join(path, 'case.md'), signal)
    return EXIT.done
  }
  if (!isLasting()) {
    throw new Refusal(
      'bad_request',
      'The page of a case is served by the service, and none is running. Start it with: casefile serve',
    )
  }
  const url = client.url + casePage(id)
  terminal.print(json ? jsonText({ url }) : `${url}\n`)
  if (!print) {
    const { default: openInBrowser } = await import('open')
    await openInBrowser(url)
  }
  return EXIT.done
}
