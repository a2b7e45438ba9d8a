import { raw } from 'hono/html'
import { type AnsiLine, lineText } from '../../rendering/ansi/lines.ts'
import { escaped, lineHtml } from '../../rendering/ansi/look.ts'
import { looksLikeError } from '../../rendering/live-log/error-text.ts'

/** A line of output. */
export interface LogLine {
  line: AnsiLine
  /** Part of it came from standard error. */
  isStderr: boolean
  /** Null if it continues a line that was too long. */
  number: number | null
}

/**
 * Lines of output, each with an anchor: `L3777`, or with a prefix `L1-test-3777`. client/output-lines.ts makes the same
 * elements.
 */
export function LogLines({ lines, prefix = '' }: { lines: readonly LogLine[]; prefix?: string }) {
  return <>{raw(lines.map((each) => htmlOf(each, prefix)).join(''))}</>
}

function htmlOf({ line, isStderr, number }: LogLine, prefix: string): string {
  const anchor =
    number === null ? '' : ` id="${escaped(`L${prefix}${number}`)}" data-line="${number}"`
  return `<span class="${lineClass(line, isStderr)}"${anchor}>${lineHtml(line)}</span>`
}

function lineClass(line: AnsiLine, isStderr: boolean): string {
  const names = ['line']
  if (isStderr) names.push('error')
  if (looksLikeError(lineText(line))) names.push('suspect')
  return names.join(' ')
}
