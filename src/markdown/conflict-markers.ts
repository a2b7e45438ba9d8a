import { linesOf } from './lines.ts'
import { closesFence, OPENING } from './outline.ts'

const LEFT_ABOVE = /^\ufeff?<<<<<<< [^\r\n]*(?:\r\n|\n|\r)---[ \t]*(?:\r|\n|$)/

/**
 * Returns the 1-based line of the first complete git conflict (`<<<<<<<`, `=======`, `>>>>>>>`), or of a marker above
 * the frontmatter; null if there is none. Text in a `verbatim` fence is ignored, as the output of a step may contain
 * markers.
 */
export function conflictLine(text: string): number | null {
  if (!text.includes('<<<<<<< ')) return null
  if (LEFT_ABOVE.test(text)) return 1
  let number = 0
  let opened: number | null = null
  let divided = false
  let fence: { mark: string; verbatim: boolean } | null = null
  for (const { text: line } of linesOf(text)) {
    number++
    if (fence && closesFence(line, fence.mark)) {
      fence = null
      continue
    }
    if (fence?.verbatim) continue
    const mark: string | undefined = fence ? undefined : OPENING.exec(line)?.[1]
    if (mark) fence = { mark, verbatim: line.slice(mark.length).trim() === 'verbatim' }
    if (line.startsWith('<<<<<<< ')) opened ??= number
    else if (opened !== null && line === '=======') divided = true
    else if (divided && line.startsWith('>>>>>>> ')) return opened
  }
  return null
}
