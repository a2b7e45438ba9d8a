import type { CommentJson } from '../../http/schemas/comment.ts'
import type { SessionHeadJson } from '../../http/schemas/session.ts'
import { counted } from '../../model/amounts.ts'
import { commentTarget } from '../../model/comment.ts'
import { oneLineText, shownLine } from './shown-line.ts'
import type { Terminal } from './terminal.ts'
import { ago } from './times.ts'
import { wrapped } from './wrapped.ts'

/** How many lines of a quote are shown. */
const QUOTED = 4

/** A comment in a list: where it is, what it says, and its replies. */
export function commentText(comment: CommentJson, terminal: Terminal): string {
  const { color } = terminal
  const time = terminal.isTerminal ? ago(comment.created_at) : comment.created_at
  const place = oneLineText(commentTarget(comment))
  const lines = [
    `${headText(comment, terminal)}  ${place}  ${color.dim(time)}`,
    ...quoteLines(comment.quote).map((line) => color.dim(fitted(`  > ${line}`, terminal))),
    ...bodyLines(comment, terminal).map((line) => `  ${line}`),
  ]
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** A comment below its line of the plan, or (with its place) below the plan. */
export function commentBlock(
  comment: CommentJson,
  terminal: Terminal,
  { isBelowLine }: { isBelowLine: boolean },
): string[] {
  const { color } = terminal
  const place = isBelowLine ? '' : `  ${oneLineText(commentTarget(comment))}`
  const quote = isBelowLine ? [] : quoteLines(comment.quote).map((line) => color.dim(`> ${line}`))
  const text = comment.resolved ? [] : [...quote, ...bodyLines(comment, terminal)]
  return [`${headText(comment, terminal)}${place}`, ...text].map((line) =>
    `    ${color.cyan('│')} ${line}`.trimEnd(),
  )
}

/** `3 comments (1 draft, 1 open)`; empty without comments. */
export function commentCountsText({ draft, open, total }: SessionHeadJson['comments']): string {
  if (total === 0) return ''
  const parts = [...(draft > 0 ? [`${draft} draft`] : []), ...(open > 0 ? [`${open} open`] : [])]
  const detail = parts.length > 0 ? ` (${parts.join(', ')})` : ''
  return `${counted(total, 'comment')}${detail}`
}

function headText({ id, status, author }: CommentJson, { color }: Terminal): string {
  const paint = {
    draft: color.yellow,
    stale: color.yellow,
    open: color.cyan,
    addressed: color.green,
    resolved: color.dim,
  }[status]
  return `${color.dim(id)}  ${paint(status)}  ${color.bold(oneLineText(author))}`
}

function bodyLines({ text, replies }: CommentJson, terminal: Terminal): string[] {
  const own = text.split('\n').map((line) => fitted(shownLine(line), terminal))
  const answers = replies.flatMap((reply) => {
    const name = `${terminal.color.bold(oneLineText(reply.author))} replied:`
    const lines = reply.text.split('\n').map((line) => fitted(`  ${shownLine(line)}`, terminal))
    return [name, ...lines]
  })
  return [...own, ...answers].flatMap((line) => line.split('\n'))
}

function quoteLines(quote: string): string[] {
  if (quote === '') return []
  const lines = quote.split('\n')
  const shown = lines.slice(0, QUOTED).map(shownLine)
  const left = lines.length - shown.length
  return left > 0 ? [...shown, `… (${left} more)`] : shown
}

/** Leaves room for the bar and the indentation. */
function fitted(line: string, terminal: Terminal): string {
  return wrapped(line, terminal.width() - 8)
}
