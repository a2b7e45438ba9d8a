import { doubtText, type HistoryEntry } from '../../model/history.ts'
import { shownLine } from './shown-line.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'

/** One line for each entry; further lines of its text are indented below it. */
export function historyText(
  entries: readonly Omit<HistoryEntry, 'act'>[],
  { color, isTerminal }: Pick<Terminal, 'color' | 'isTerminal'>,
): string {
  return entries
    .map((entry) => {
      const { at, who, what, text, kind } = entry
      const doubt = doubtText(entry)
      const time = at === null ? '' : color.dim(`${isTerminal ? ago(at) : minuteOf(at)}  `)
      const by = who === null ? '' : `${[shownLine(who), ...(doubt ? [doubt] : [])].join(' ')}: `
      const said = [what, ...(text === null ? [] : [text])].join('\n').split('\n')
      const [first = '', ...rest] = said.map(shownLine)
      const lines = rest.map((line) => `    ${line}\n`).join('')
      return `${time}${by}${kind === 'note' ? color.dim(first) : first}\n${lines}`
    })
    .join('')
}

/** As in history.md, but for the time zone. */
function minuteOf(at: string): string {
  return `${at.slice(0, 'yyyy-mm-ddThh:mm'.length)}Z`
}
