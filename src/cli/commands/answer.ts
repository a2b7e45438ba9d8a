import { buffer } from 'node:stream/consumers'
import { Command } from 'commander'
import { textOf } from '../../client/memory-change.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { withEdited } from '../edited-text.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { shownLine } from '../output/shown-line.ts'
import { resolveCase } from '../resolve/case.ts'

export function command(): Command {
  const answer = new Command('answer')
    .description('Answer the question of a case.')
    .addArgument(caseArgument())
    .argument('[text...]', 'The answer; - reads standard input. Without it $EDITOR opens.')
    .action((name: string, words: string[], options: CommandOptions) =>
      withService(options, (context) => run(context, name, words)),
    )
  return explain(answer, {
    examples: [
      ['casefile answer "sign-in" "30 days."', 'Answer it.'],
      ['casefile answer c12d - < answer.md', 'Take the answer from a file.'],
    ],
    exits: [EXIT.unknown],
    more: 'Both stay in its history, and the next session gets them. The case returns to its state before the question.',
  })
}

async function run(context: CommandContext, name: string, words: string[]): Promise<ExitCode> {
  const id = await resolveCase(context.client, name)
  if (words.length > 0) {
    const given = words.join(' ')
    const text = given === '-' ? textOf(await buffer(process.stdin), 'Standard input') : given
    if (text.trim() === '') {
      throw usageError('The answer is blank. Write it after the case, or - to read standard input.')
    }
    await send(context, id, text)
    return EXIT.done
  }
  const { client, terminal, signal } = context
  const { body, etag } = await client.request('GET', `/cases/${id}`)
  if (body.reason) terminal.say(shownLine(body.reason))
  const onSaved = (file: string) => terminal.warn(`your text was saved in ${file}`)
  await withEdited('', { name: 'answer.md', signal, onSaved }, async (text) => {
    if (text.trim() === '') terminal.warn('the answer is blank; nothing was sent')
    else await send(context, id, text, etag)
  })
  return EXIT.done
}

async function send(
  { client, terminal, json }: CommandContext,
  id: string,
  text: string,
  /** Of the case with the question that the person read. */
  etag: string | null = null,
): Promise<void> {
  const { body } = await client.request('POST', `/cases/${id}/answer`, {
    body: { text: text.trim() },
    headers: etag === null ? {} : { 'if-match': etag },
  })
  terminal.print(json ? jsonText(body) : `${id.slice(0, 8)}  ${body.state}  answered\n`)
}
