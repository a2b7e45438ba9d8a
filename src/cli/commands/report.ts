import { resolve } from 'node:path'
import { Command } from 'commander'
import { writeDurable } from '../../files/durable-write.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { shownLine } from '../output/shown-line.ts'
import { resolveCase } from '../resolve/case.ts'

interface ReportOptions extends CommandOptions {
  html?: boolean
  md?: boolean
  output?: string
}

/** `casefile report`: a case as one file, to mail or to print. */
export function command(): Command {
  const report = new Command('report')
    .description('Write a case as one file that needs nothing else: to mail, print or keep.')
    .addArgument(caseArgument())
    .option('--html', 'HTML, with pictures and without scripts. This is the default.')
    .option('--md', 'Markdown, without pictures.')
    .option('-o, --output <file>', 'Write it to this file, and replace it if it exists.')
    .action((name: string, options: ReportOptions) =>
      withReader(options, (context) => run(context, name, options)),
    )
  return explain(report, {
    examples: [
      ['casefile report "sign-in" -o sign-in.html', 'Open it in a browser, or mail it.'],
      ['casefile report c12d --md | less', 'Read it in the terminal.'],
    ],
    exits: [EXIT.unknown],
  })
}

async function run(
  { client, terminal }: ReadContext,
  name: string,
  { html, md, output }: ReportOptions,
): Promise<ExitCode> {
  if (html && md) throw usageError('Choose one of --html and --md.')
  const isMarkdown = md === true || (!html && /\.(?:md|markdown)$/i.test(output ?? ''))
  const id = await resolveCase(client, name)
  const bytes = await client.bytesOf(`/cases/${id}/report?format=${isMarkdown ? 'md' : 'html'}`)
  if (output === undefined) {
    const text = new TextDecoder().decode(bytes)
    terminal.print(terminal.isTerminal ? text.split('\n').map(shownLine).join('\n') : text)
    return EXIT.done
  }
  await writeDurable(resolve(output), bytes)
  terminal.say(`Wrote ${output}`)
  return EXIT.done
}
