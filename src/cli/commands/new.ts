import { text as readAll } from 'node:stream/consumers'
import { visibleText } from '../../model/visible-text.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { jsonText } from '../output/json.ts'

export interface NewOptions extends ConsoleOptions {
  type?: string
  description?: string
  tag?: string[]
  parent?: string
  workdir?: string
  provider?: string
}

/** `casefile new`: makes a case. */
export async function newCase(
  { client, terminal, json }: Console,
  title: string,
  { type, description, tag, parent, workdir, provider }: NewOptions,
): Promise<ExitCode> {
  const fields = {
    ...{ title, type, workdir, provider, tags: tag },
    description: description === '-' ? await readAll(process.stdin) : description,
    parent: parent === undefined ? undefined : await resolveCase(client, parent),
  }
  const { body } = await client.request('POST', '/cases', { body: fields })
  if (json) terminal.print(jsonText(body))
  else {
    terminal.print(`${body.id}  ${visibleText(body.title)}\n`)
    terminal.say(`Next: casefile start ${body.id.slice(0, 8)}`)
  }
  return EXIT.done
}
