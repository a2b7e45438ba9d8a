import { buffer } from 'node:stream/consumers'
import { Refusal } from '../../model/refusal.ts'
import { decodeUtf8 } from '../../workspace/disk/safe-read.ts'
import type { Console } from '../console.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { caseNamed } from '../named/case.ts'
import { jsonText } from '../text/json-text.ts'
import { wrongUsage } from '../usage.ts'

const ATTEMPTS = 5

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
  const path = `/cases/${await caseNamed(client, name)}/memory/notes.md`
  for (let attempt = 1; ; attempt++) {
    const present = await client.exchange('GET', path)
    if (present.status !== 200 && present.status !== 404) {
      await client.ask('GET', path) // refuses with what the service has to say
    }
    const isNew = present.status === 404
    const headers: Record<string, string> = isNew
      ? { 'if-none-match': '*' }
      : { 'if-match': present.etag ?? '*' }
    const body = withNote(isNew ? '' : textOf(present.bytes, 'notes.md'), text, new Date())
    try {
      const answer = await client.ask('PUT', path, { body, headers })
      terminal.print(json ? jsonText(answer.body) : 'noted in notes.md\n')
      return EXIT.done
    } catch (error) {
      const isLate = error instanceof Refusal && error.code === 'precondition_failed'
      if (!isLate || attempt === ATTEMPTS) throw error
    }
  }
}

/** A byte order mark stays; bytes that are no text would be saved as other ones. */
function textOf(bytes: Uint8Array, what: string): string {
  const read = decodeUtf8(bytes)
  if (read.ok) return read.text
  throw new Refusal(
    'bad_request',
    `${what} is not UTF-8 text (line ${read.line}), so nothing was noted. Save it in that encoding, then try again.`,
  )
}

/** The notes with one more below the heading of its day; what stands there stays as it is, to the byte. */
export function withNote(present: string, text: string, now: Date): string {
  const day = `## ${now.toISOString().slice(0, 10)}`
  const newline = present.includes('\r\n') ? '\r\n' : '\n'
  const headings = present.match(/^#{1,6} .*$/gm) ?? []
  const isToday = headings.at(-1)?.trim() === day
  const added = [...(isToday ? [] : [day]), text.trim()].join(`${newline}${newline}`)
  return `${present}${newline.repeat(missingBreaks(present))}${added}${newline}`
}

/** How many line ends a text lacks at its end for a blank line to stand there. */
function missingBreaks(text: string): 0 | 1 | 2 {
  const lines = text.replace(/^\ufeff/, '').split('\n')
  const last = lines.at(-1)!
  if (last.trim() !== '') return 2
  const before = lines.at(-2) ?? ''
  return last !== '' || before.trim() !== '' ? 1 : 0
}
