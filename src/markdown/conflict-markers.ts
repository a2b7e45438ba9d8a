import { linesOf } from './lines.ts'

/**
 * The 1-based line of the first `<<<<<<<` that git left with its `=======` and `>>>>>>>`; null when
 * there is none. Text in a `verbatim` fence is data: the output of a step may well show a conflict.
 */
export function conflictLine(text: string): number | null {
  if (!text.includes('<<<<<<< ')) return null
  let number = 0
  let opened: number | null = null
  let divided = false
  let fence: string | null = null
  for (const line of linesOf(text)) {
    number++
    if (fence !== null) {
      if (line.text === fence) fence = null
      continue
    }
    fence = /^(`{3,})verbatim[ \t]*$/.exec(line.text)?.[1] ?? null
    if (line.text.startsWith('<<<<<<< ')) opened ??= number
    else if (opened !== null && line.text === '=======') divided = true
    else if (divided && line.text.startsWith('>>>>>>> ')) return opened
  }
  return null
}
