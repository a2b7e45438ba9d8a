import { diffIndices } from 'node-diff3'
import type { PlanStep } from '../model/plan-step.ts'
import { linesOf } from './lines.ts'

export interface LineRange {
  line: number
  /** The last line; null for a single one. */
  end_line: number | null
}

/** The lines of a plan, without their endings. Line 1 is the first. */
export function planLines(plan: string): string[] {
  return [...linesOf(plan)].map(({ text }) => text)
}

/** More would take too long to compare for each look at a session. */
const MAX_COMPARED = 4000

/**
 * Returns where the lines of an earlier plan are in the present one: the first of them, or null if any has changed. If
 * the earlier plan is not known, it looks for the quoted lines.
 */
export function presentLine(
  present: readonly string[],
  earlier: readonly string[] | null,
  { line, end_line, quote }: LineRange & { quote: string },
): number | null {
  if (earlier === null || earlier.length + present.length > MAX_COMPARED) {
    return nearest(linesWith(present, quote), line)
  }
  const [first, last] = [line - 1, (end_line ?? line) - 1]
  let shift = 0
  for (const { buffer1, buffer2 } of diffIndices([...earlier], [...present])) {
    const [from, count] = buffer1
    if (from + count <= first) shift += buffer2[1] - count
    else if (from <= last) return null
  }
  return line + shift
}

/** Returns the lines at which a quote begins. */
export function linesWith(lines: readonly string[], quote: string): number[] {
  if (quote === '') return []
  const quoted = quote.split('\n')
  return lines.flatMap((_, index) =>
    quoted.every((text, offset) => lines[index + offset] === text) ? [index + 1] : [],
  )
}

export function nearest(found: readonly number[], line: number): number | null {
  const [first = null] = [...found].sort((a, b) => Math.abs(a - line) - Math.abs(b - line))
  return first
}

export interface StepLines {
  id: string
  from: number
  to: number
}

/** The lines of each step in a plan, with its fences. */
export function stepLines(lines: readonly string[], steps: readonly PlanStep[]): StepLines[] {
  return steps.map(({ id, line, isEntry }) => {
    if (isEntry) return { id, from: line, to: line }
    const mark = /(`{3,}|~{3,})/.exec(lines[line - 1] ?? '')?.[1] ?? '```'
    const closes = (text: string) => {
      const end = text.trim().replace(/^(?:> ?)+/, '')
      return end.startsWith(mark) && end.replaceAll(mark[0]!, '') === ''
    }
    const end = lines.findIndex((text, index) => index >= line && closes(text))
    return { id, from: line, to: end < 0 ? lines.length : end + 1 }
  })
}
