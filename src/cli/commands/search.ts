import type { ChalkInstance } from 'chalk'
import type { FoundCase } from '../../http/routes/search.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { LineOfFile } from '../../search/search.ts'
import type { ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import { jsonText } from '../text/json-text.ts'
import { shownLine } from '../text/shown-line.ts'

export interface SearchOptions extends ConsoleOptions {
  limit?: string
}

/** `casefile search`: cases, each with the lines in which the words stand, as `<file>:<line>: <text>`. */
export async function search(
  { client, terminal, json }: ReadingConsole,
  words: readonly string[],
  { limit = '20' }: SearchOptions,
): Promise<ExitCode> {
  const query = new URLSearchParams({ q: words.join(' '), limit })
  const { body } = await client.ask('GET', `/search?${query}`)
  const found = body as FoundCase[]
  if (json) {
    terminal.print(jsonText(found))
    return EXIT.done
  }
  terminal.print(found.map((each) => caseText(each, terminal.color)).join('\n'))
  if (found.length === 0) terminal.say('nothing found')
  else if (found[0]!.missing.length > 0) terminal.say('\nno case has all of the words')
  return EXIT.done
}

function caseText({ id, state, title, missing, lines }: FoundCase, color: ChalkInstance): string {
  const without =
    missing.length > 0 ? color.dim(`  without ${missing.map(visibleText).join(', ')}`) : ''
  const head = `${color.cyan(id.slice(0, 8))}  ${state}  ${color.bold(visibleText(title))}${without}`
  const shown = lines.map((each) => `  ${lineText(each, color)}`)
  return [head, ...shown].map((line) => `${line}\n`).join('')
}

function lineText({ file, line, text, marks }: LineOfFile, color: ChalkInstance): string {
  let end = 0
  const parts = marks.map(([from, to]) => {
    const part = shownLine(text.slice(end, from)) + color.yellow(shownLine(text.slice(from, to)))
    end = to
    return part
  })
  const place = color.dim(`${visibleText(file)}:${line}:`)
  return `${place} ${parts.join('').trimStart()}${shownLine(text.slice(end)).trimEnd()}`
}
