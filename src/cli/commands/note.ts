import { buffer } from 'node:stream/consumers'
import { Command } from 'commander'
import { changeMemory, textOf, withParagraphs } from '../../client/memory-change.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'

export function command(): Command {
  const note = new Command('note')
    .description('Add to the notes of a case, below today’s heading.')
    .addArgument(caseArgument())
    .argument('<text...>', 'The note; - reads standard input.')
    .action((name: string, words: string[], options: CommandOptions) =>
      withService(options, (context) => run(context, name, words)),
    )
  return explain(note, {
    examples: [
      ['casefile note "sign-in" "It began with release 2.3."', 'Add a paragraph.'],
      ['git log -3 | casefile note c12d -', 'Add the output of a command.'],
    ],
    exits: [EXIT.unknown],
  })
}

async function run(
  { client, terminal, json }: CommandContext,
  name: string,
  words: string[],
): Promise<ExitCode> {
  const given = words.join(' ')
  const text = given === '-' ? textOf(await buffer(process.stdin), 'Standard input') : given
  if (text.trim() === '') {
    throw usageError('The note is blank. Write it after the case, or - to read standard input.')
  }
  const path = `/cases/${await resolveCase(client, name)}/memory/notes.md`
  const { body } = await changeMemory(client, path, (present) =>
    withNote(present ?? '', text, new Date()),
  )
  terminal.print(json ? jsonText(body) : 'added to notes.md\n')
  return EXIT.done
}

/** Adds a note below the heading of its day. */
export function withNote(present: string, text: string, now: Date): string {
  const day = `## ${now.toISOString().slice(0, 10)}`
  const headings = present.match(/^#{1,6} .*$/gm) ?? []
  const isToday = headings.at(-1)?.trim() === day
  return withParagraphs(present, [...(isToday ? [] : [day]), text.trim()])
}
