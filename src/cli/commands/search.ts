import { Command } from 'commander'
import type { FoundCaseJson } from '../../http/schemas/search.ts'
import { STATE_GROUP_LABELS, stateGroup } from '../../model/state-groups.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { shownLine } from '../output/shown-line.ts'
import type { Terminal } from '../output/terminal.ts'
import { wrapped } from '../output/wrapped.ts'

interface Options extends CommandOptions {
  limit: string
}

export function command(): Command {
  const search = new Command('search')
    .description('Find words in cases, sessions, notes and proof.')
    .argument(
      '<words...>',
      'Words, phrases in quotation marks, and filters such as state:RESOLVED, type:bug, tag:auth.',
    )
    .option('--limit <n>', 'Maximum number of cases, 1 to 100.', '20')
    .action((words: string[], options: Options) =>
      withReader(options, (context) => run(context, words, options)),
    )
  return explain(search, {
    examples: [
      ['casefile search connection refused', 'Cases with both words, or words that begin so.'],
      [`casefile search '"connection refused"'`, 'Cases with this phrase.'],
      ['casefile search "ECONNRESET state:RESOLVED"', 'How it was solved before.'],
      ['casefile search tag:auth token --json', 'Use it in a script.'],
    ],
    more: 'Results show the matching lines with their files, relative to the workspace.',
  })
}

async function run(
  { client, terminal, json }: ReadContext,
  words: readonly string[],
  { limit }: Options,
): Promise<ExitCode> {
  const query = new URLSearchParams({ q: words.join(' '), limit })
  const { body, total } = await client.request('GET', `/search?${query}`)
  const found: FoundCaseJson[] = body
  if (json) {
    terminal.print(jsonText(found))
    return EXIT.done
  }
  terminal.print(found.map((each) => resultText(each, terminal)).join('\n'))
  if (found.length === 0) terminal.say('no matches')
  else if (found[0]!.missing.length > 0) terminal.say('\nno case has all of these words')
  if (total !== null && total > found.length) {
    terminal.say(`\nShowing ${found.length} of ${total}. Show more with --limit.`)
  }
  return EXIT.done
}

function resultText(
  { id, state, needs, title, missing, lines }: FoundCaseJson,
  { color, width }: Terminal,
): string {
  const without =
    missing.length > 0 ? color.dim(`  without ${missing.map(visibleText).join(', ')}`) : ''
  const group = STATE_GROUP_LABELS[stateGroup(state, needs?.kind)]
  const head = `${color.cyan(id.slice(0, 8))}  ${group} (${state})  ${color.bold(visibleText(title))}${without}`
  const shown = lines.map((each) => wrapped(`  ${lineText(each, color)}`, width(), '    '))
  return [head, ...shown].map((line) => `${line}\n`).join('')
}

function lineText(
  { file, line, text, marks }: FoundCaseJson['lines'][number],
  color: Terminal['color'],
): string {
  let end = 0
  const parts = marks.map(([from, to]) => {
    const part = shownLine(text.slice(end, from)) + color.yellow(shownLine(text.slice(from, to)))
    end = to
    return part
  })
  const place = color.dim(`${visibleText(file)}:${line}:`)
  return `${place} ${parts.join('').trimStart()}${shownLine(text.slice(end)).trimEnd()}`
}
