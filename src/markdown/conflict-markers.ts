import { lineEnding, linesOf } from './lines.ts'
import { closesFence, OPENING } from './outline.ts'

const LEFT_ABOVE = /^\ufeff?<<<<<<< [^\r\n]*(?:\r\n|\n|\r)---[ \t]*(?:\r|\n|$)/

/**
 * Returns the 1-based line of the first complete git conflict (`<<<<<<<`, `=======`, `>>>>>>>`), or of a marker above
 * the frontmatter; null if there is none. Text in a `verbatim` fence is ignored, as the output of a step may contain
 * markers; but not a text below `## Plan` that is another one than was stored.
 */
export function conflictLine(text: string, isStored?: (plan: string) => boolean): number | null {
  if (!text.includes('<<<<<<< ')) return null
  if (LEFT_ABOVE.test(text)) return 1
  let number = 0
  let opened: number | null = null
  let divided = false
  let heading = ''
  let fence: { mark: string; verbatim: boolean; number: number; from: number } | null = null
  for (const { text: line, start, next } of linesOf(text)) {
    number++
    if (fence && closesFence(line, fence.mark)) {
      const plan = text.slice(fence.from, start - lineEnding(text).length)
      const inPlan = fence.verbatim && heading === '## Plan' ? conflictLine(plan) : null
      if (inPlan !== null && isStored?.(plan) === false) return fence.number + inPlan
      fence = null
      continue
    }
    if (fence?.verbatim) continue
    const mark: string | undefined = fence ? undefined : OPENING.exec(line)?.[1]
    if (!fence && line.startsWith('## ')) heading = line.trimEnd()
    if (mark) {
      const verbatim: boolean = line.slice(mark.length).trim() === 'verbatim'
      fence = { mark, verbatim, number, from: next }
    }
    if (line.startsWith('<<<<<<< ')) opened ??= number
    else if (opened !== null && line === '=======') divided = true
    else if (divided && line.startsWith('>>>>>>> ')) return opened
  }
  return null
}
