import { Command } from 'commander'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { historyText } from '../output/history-text.ts'
import { jsonText } from '../output/json.ts'
import { shownLine } from '../output/shown-line.ts'
import { resolveCase } from '../resolve/case.ts'
import { MESSAGE, withTypedText } from '../typed-text.ts'

interface Options extends CommandOptions {
  message?: string
  answer: boolean
}

export function command(): Command {
  const comment = new Command('comment')
    .summary('Comment on a case, or answer its question.')
    .description('Comment on a case. If it asks you a question, this answers it.')
    .addArgument(caseArgument())
    .argument('[text...]', 'The comment; - reads standard input. Default: your editor.')
    .option(...MESSAGE)
    .option('--no-answer', 'Only comment: the question stays open.')
    .action((name: string, words: string[], options: Options) =>
      withService(options, (context) => run(context, name, words, options)),
    )
  return explain(comment, {
    examples: [
      ['casefile comment "sign-in" "It began on Friday."', 'Add it to the history.'],
      ['git log -3 | casefile comment c12d -', 'Add the output of a command.'],
    ],
    exits: [EXIT.unknown],
    more: 'The next session gets it. After an answer the case returns to its state before the question. casefile session comment is for lines of a plan or a diff.',
  })
}

async function run(
  context: CommandContext,
  name: string,
  words: readonly string[],
  { message, answer }: Options,
): Promise<ExitCode> {
  if (message !== undefined && words.length > 0) throw usageError('Write the text once.')
  const { client, terminal, json } = context
  const id = await resolveCase(client, name)
  const { body: found, etag } = await client.request('GET', `/cases/${id}`)
  const given = words.length > 0 ? words.join(' ') : message
  const answers = answer && found.state === 'NEEDS_USER_INPUT'
  const question: string[] = answers && found.reason ? found.reason.split('\n') : []
  const about = answers ? ['Answer the question:', ...question] : ['Comment on the case.']
  if (given === undefined) for (const line of question) terminal.say(shownLine(line))
  return withTypedText(context, given, { about }, async (text) => {
    if (answers) {
      // only the question that the person read
      const headers: Record<string, string> =
        given === undefined && etag !== null ? { 'if-match': etag } : {}
      const body = { text: text.trim() }
      const sent = await client.request('POST', `/cases/${id}/answer`, { body, headers })
      const line = `${id.slice(0, 8)}  ${sent.body.state}  answered\n`
      terminal.print(json ? jsonText(sent.body) : line)
      return EXIT.done
    }
    const sent = await client.request('POST', `/cases/${id}/comments`, { body: { text } })
    terminal.print(json ? jsonText(sent.body) : historyText([sent.body], terminal))
    return EXIT.done
  })
}
