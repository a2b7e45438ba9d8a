import { confirm } from '../../demo/question.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { jsonText } from '../output/json.ts'
import { wrongUsage } from '../usage.ts'

export interface DeleteOptions extends ConsoleOptions {
  yes?: boolean
}

/** `casefile delete`: asks, and removes a case with all its files. */
export async function deleteCase(
  { client, terminal, json, signal }: Console,
  name: string,
  { yes }: DeleteOptions,
): Promise<ExitCode> {
  if (!yes && (json || !terminal.canAsk)) {
    throw wrongUsage(
      'Deleting asks first, and there is no terminal to ask on. Say it in advance: --yes.',
    )
  }
  const id = await resolveCase(client, name)
  const { title } = (await client.request('GET', `/cases/${id}`)).body
  const what = `${id.slice(0, 8)}  ${visibleText(title)}`
  const question = `${what}\nDelete this case with its sessions, proof and notes? [y/N] `
  if (!yes && !(await confirm(question, signal))) {
    terminal.warn('not deleted')
    return EXIT.notApproved
  }
  const { body } = await client.request('DELETE', `/cases/${id}`)
  terminal.print(json ? jsonText(body) : `deleted  ${what}\n`)
  return EXIT.done
}
