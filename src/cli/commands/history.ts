import type { HistoryEntry } from '../../model/history.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import type { Terminal } from '../output/terminal.ts'
import { jsonText } from '../output/json.ts'
import { shownLine } from '../output/shown-line.ts'
import { ago } from '../output/times.ts'

/** `casefile history`: what happened to a case, oldest first. */
export async function history(
  { client, terminal, json }: ReadingConsole,
  name: string,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const { body } = await client.request('GET', `/cases/${id}/history`)
  terminal.print(json ? jsonText(body) : historyText(body as HistoryEntry[], terminal))
  return EXIT.done
}

/** One line for each entry; the lines of a longer text stand below it. */
export function historyText(
  entries: readonly HistoryEntry[],
  { color, isTerminal }: Pick<Terminal, 'color' | 'isTerminal'>,
): string {
  return entries
    .map(({ at, who, what, text, kind }) => {
      const time = at === null ? '' : color.dim(`${isTerminal ? ago(at) : at}  `)
      const by = who === null ? '' : `${shownLine(who)}: `
      const said = [what, ...(text === null ? [] : [text])].join('\n').split('\n')
      const [first = '', ...rest] = said.map(shownLine)
      const lines = rest.map((line) => `    ${line}\n`).join('')
      return `${time}${by}${kind === 'note' ? color.dim(first) : first}\n${lines}`
    })
    .join('')
}
