import { buffer } from 'node:stream/consumers'
import { textOf } from '../../client/memory-change.ts'
import type { Console } from '../console.ts'
import { withEdited } from '../edited-text.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { jsonText } from '../output/json.ts'
import { shownLine } from '../output/shown-line.ts'
import { wrongUsage } from '../usage.ts'

/** `casefile answer`: answers the question of a case that is NEEDS_USER_INPUT. */
export async function answer(console: Console, name: string, words: string[]): Promise<ExitCode> {
  const id = await resolveCase(console.client, name)
  if (words.length > 0) {
    const given = words.join(' ')
    const text = given === '-' ? textOf(await buffer(process.stdin), 'Standard input') : given
    if (text.trim() === '')
      throw wrongUsage('The answer is blank. Give it a text, or - for standard input.')
    await send(console, id, text)
    return EXIT.done
  }
  const { client, terminal, signal } = console
  const { reason } = (await client.request('GET', `/cases/${id}`)).body
  if (reason) terminal.say(shownLine(reason))
  const kept = (file: string) => terminal.warn(`what you wrote is kept in ${file}`)
  await withEdited('', { name: 'answer.md', signal, kept }, async (text) => {
    if (text.trim() === '') terminal.warn('the answer is blank, so nothing was sent')
    else await send(console, id, text)
  })
  return EXIT.done
}

async function send({ client, terminal, json }: Console, id: string, text: string): Promise<void> {
  const { body } = await client.request('POST', `/cases/${id}/answer`, { body: { text: text.trim() } })
  terminal.print(json ? jsonText(body) : `${id.slice(0, 8)}  ${body.state}  answered\n`)
}
