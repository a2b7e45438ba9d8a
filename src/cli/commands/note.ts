import { buffer } from 'node:stream/consumers'
import { changeMemory, textOf, withParagraphs } from '../../client/memory-change.ts'
import type { Console } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { jsonText } from '../output/json.ts'
import { wrongUsage } from '../usage.ts'

/** `casefile note`: adds a paragraph to the case's notes.md, below a heading with the day. */
export async function note(
  { client, terminal, json }: Console,
  name: string,
  words: string[],
): Promise<ExitCode> {
  const given = words.join(' ')
  const text = given === '-' ? textOf(await buffer(process.stdin), 'Standard input') : given
  if (text.trim() === '')
    throw wrongUsage('The note is blank. Give it a text, or - for standard input.')
  const path = `/cases/${await resolveCase(client, name)}/memory/notes.md`
  const { body } = await changeMemory(client, path, (present) =>
    withNote(present ?? '', text, new Date()),
  )
  terminal.print(json ? jsonText(body) : 'noted in notes.md\n')
  return EXIT.done
}

/** The notes with one more below the heading of its day. */
export function withNote(present: string, text: string, now: Date): string {
  const day = `## ${now.toISOString().slice(0, 10)}`
  const headings = present.match(/^#{1,6} .*$/gm) ?? []
  const isToday = headings.at(-1)?.trim() === day
  return withParagraphs(present, [...(isToday ? [] : [day]), text.trim()])
}
