import type { Comment, CommentReply, CommentTarget } from '../model/comment.ts'
import { TIME } from '../model/name-patterns.ts'
import { type Line, linesOf } from './lines.ts'

export const REVIEW_HEADING = 'Review'

const BETWEEN = ' · '
const ITEM = /^[-*+] \[([ xX])\] (.*)$/
const ID = /^[0-9a-f]{8}$/
const TARGET =
  /^(plan|diff) ([0-9a-f]{12})(?: (`[^`]+`|"(?:[^"\\]|\\.)+"))?(?: line (\d{1,9})(?:-(\d{1,9}))?(?: (new|old))?)?$/
/** A comment, even if its id or its place is wrong. */
const COMMENT_LIKE = /^[-*+] \[[ xX]\] (?:[0-9a-f]{8} · |[^·]* · .* · (?:plan|diff)\b)/
const REPLY = /^- reply · (.+) · (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/
const REPLY_LIKE = /^[-*+] reply ·/
const INDENT = '  '

/** Shows that a section is the one of the comments if all of them were deleted and other text is left. */
export const NO_COMMENTS_LEFT = '<!-- comments -->'

/** Whether a text below a heading `## Review` has or had comments, so that it is not part of a plan. */
export function hasComments(region: string): boolean {
  return [...linesOf(region)].some(
    ({ text }) => COMMENT_LIKE.test(text) || text === NO_COMMENTS_LEFT,
  )
}

/** A comment with its place in the text. */
export interface ReviewEntry {
  comment: Comment
  start: number
  /** After its last line that is not blank. */
  next: number
  /** Offset of the character in its box. */
  box: number
  /** The word `draft` or `sent`. */
  mark: { from: number; to: number }
  /** The lines of its text; empty (`from` is after the quote) without one. */
  body: { from: number; to: number }
}

export interface ReviewProblem {
  at: number
  message: string
}

export interface ReviewReading {
  entries: ReviewEntry[]
  problems: ReviewProblem[]
}

/** Reads the text below the heading. Text between the comments is ignored. */
export function readReview(region: string): ReviewReading {
  const entries: ReviewEntry[] = []
  const problems: ReviewProblem[] = []
  const lines = [...linesOf(region)]
  for (let index = 0; index < lines.length; index++) {
    const head = lines[index]!
    const item = ITEM.exec(head.text)
    if (!item || !item[2]!.includes(BETWEEN)) continue
    const inner = linesOfItem(lines, index + 1)
    const read = readHead(item[2]!, item[1] !== ' ')
    index += inner.length
    if (typeof read === 'string') {
      if (COMMENT_LIKE.test(head.text)) problems.push({ at: head.start, message: read })
      continue
    }
    if (entries.some(({ comment }) => comment.id === read.id)) {
      problems.push({ at: head.start, message: `another comment has the id ${read.id}` })
      continue
    }
    const { quote, text, body, replies, wrong } = readInner(inner, head.next)
    problems.push(...wrong)
    const markFrom = head.start + head.text.lastIndexOf(BETWEEN) + BETWEEN.length
    entries.push({
      comment: { ...read, quote, text, replies },
      start: head.start,
      next: inner.at(-1)?.next ?? head.next,
      box: head.start + 3,
      mark: { from: markFrom, to: markFrom + (read.sent ? 'sent' : 'draft').length },
      body,
    })
  }
  return { entries, problems }
}

/** The lines of a list item, without blank lines at its end. */
function linesOfItem(lines: readonly Line[], from: number): Line[] {
  let end = from
  for (let index = from; index < lines.length; index++) {
    const { text } = lines[index]!
    const isBlank = /^[ \t]*$/.test(text)
    if (!isBlank && !/^(?: {2}|\t)/.test(text)) break
    if (!isBlank) end = index + 1
  }
  return lines.slice(from, end)
}

type Head = Omit<Comment, 'quote' | 'text' | 'replies'>

/** Reads the first line of a comment; a message if it is wrong. */
function readHead(text: string, resolved: boolean): Head | string {
  const [id = '', author = '', created_at = '', ...rest] = text.split(BETWEEN)
  const mark = rest.pop()
  const place = readTarget(rest.join(BETWEEN))
  if (!ID.test(id)) return `the id of a comment has 8 hex digits; this is "${id.slice(0, 40)}"`
  if (author.trim() === '') return 'a comment has the name of its author'
  if (!TIME.test(created_at)) return 'a comment has a time, such as 2026-11-26T18:00:00.000Z'
  if (place === null) {
    return 'a comment says where it is: plan or diff, 12 hex digits, then the line, such as plan 1a2b3c4d5e6f line 12-13'
  }
  if (mark !== 'draft' && mark !== 'sent') {
    return `the line of a comment ends with draft or sent; this is "${(mark ?? '').slice(0, 40)}"`
  }
  return { id, author, created_at, sent: mark === 'sent', resolved, ...place }
}

function readTarget(text: string): CommentTarget | null {
  const [, on, sha256 = '', name, from, to, side] = TARGET.exec(text) ?? []
  if (on !== 'plan' && on !== 'diff') return null
  const line = from === undefined ? null : Number(from)
  const end_line = to === undefined ? null : Number(to)
  if (line === 0 || (end_line !== null && end_line < line!)) return null
  if (on === 'plan') {
    if (name !== undefined || side !== undefined) return null
    return { on, sha256, file: null, side: null, line, end_line }
  }
  const file = name === undefined ? null : readName(name)
  if (file === null || line === null || (side !== 'old' && side !== 'new')) return null
  return { on, sha256, file, side, line, end_line }
}

function readName(written: string): string | null {
  if (written.startsWith('`')) return written.slice(1, -1)
  try {
    return JSON.parse(written) as string
  } catch {
    return null
  }
}

type Inner = Pick<Comment, 'quote' | 'text' | 'replies'> & {
  body: ReviewEntry['body']
  wrong: ReviewProblem[]
}

/** Reads what is below the first line of a comment: quote, text, replies. */
function readInner(lines: readonly Line[], start: number): Inner {
  const wrong: ReviewProblem[] = []
  const quote: string[] = []
  const text: Line[] = []
  const replies: (Omit<CommentReply, 'text'> & { lines: string[] })[] = []
  let body: ReviewEntry['body'] | null = null
  for (const line of lines) {
    const inner = withoutIndent(line.text)
    if (body === null && inner.startsWith('>')) {
      quote.push(inner.replace(/^> ?/, ''))
      start = line.next
      continue
    }
    body ??= { from: start, to: start }
    const reply = REPLY.exec(inner)
    if (reply) {
      replies.push({ author: reply[1]!, created_at: reply[2]!, lines: [] })
      continue
    }
    if (REPLY_LIKE.test(inner)) {
      const message =
        'a reply begins with - reply · <name> · <time>; this line counts as part of the text above'
      wrong.push({ at: line.start, message })
    }
    const last = replies.at(-1)
    if (last) last.lines.push(withoutIndent(inner))
    else {
      text.push(line)
      if (inner.trim() !== '') body.to = line.next
    }
  }
  return {
    quote: quote.join('\n'),
    text: textOf(
      text.map((line) => withoutIndent(line.text).replace(/^\\(?=\\*[-*+] reply ·)/, '')),
    ),
    replies: replies.map(({ lines, ...reply }) => ({ ...reply, text: textOf(lines) })),
    body: body ?? { from: start, to: start },
    wrong,
  }
}

function withoutIndent(line: string): string {
  return line.startsWith(INDENT) ? line.slice(INDENT.length) : line.replace(/^[ \t]/, '')
}

function textOf(lines: readonly string[]): string {
  return lines.join('\n').trim()
}

/** The lines of a new comment, without a line ending after the last. */
export function commentLines(comment: Comment): string[] {
  const { resolved, id, author, created_at, sent, quote, text, replies } = comment
  const parts = [id, author, created_at, placeText(comment), sent ? 'sent' : 'draft']
  return [
    `- [${resolved ? 'x' : ' '}] ${parts.join(BETWEEN)}`,
    ...quoteLines(quote),
    ...textLines(text, quote),
    ...replies.flatMap((reply) => ['', ...replyLines(reply)]),
  ]
}

function quoteLines(quote: string): string[] {
  if (quote === '') return []
  return quote.split(/\r\n?|\n/).map((line) => `${INDENT}>${line === '' ? '' : ` ${line}`}`)
}

/** The lines of a comment's text, and the blank line that divides it from the quote. */
export function textLines(text: string, quote: string): string[] {
  if (text === '') return []
  const lines = text
    .split('\n')
    .map((line) => (/^\\*[-*+] reply ·/.test(line) ? `\\${line}` : line))
    .map((line) => indented(line, INDENT))
  return quote !== '' || text.startsWith('>') ? ['', ...lines] : lines
}

export function replyLines({ author, created_at, text }: CommentReply): string[] {
  const head = `${INDENT}${['- reply', author, created_at].join(BETWEEN)}`
  return [head, ...text.split('\n').map((line) => indented(line, INDENT + INDENT))]
}

function indented(line: string, indent: string): string {
  return line === '' ? '' : indent + line
}

function placeText({ on, sha256, file, side, line, end_line }: CommentTarget): string {
  const range = end_line === null ? `${line}` : `${line}-${end_line}`
  return [
    on,
    sha256,
    file === null ? null : nameText(file),
    line === null ? null : `line ${range}`,
    side,
  ]
    .filter((part) => part !== null)
    .join(' ')
}

function nameText(file: string): string {
  if (!/[`\p{Cc}\u2028\u2029]/u.test(file)) return `\`${file}\``
  // JSON leaves them, but they end a line
  return JSON.stringify(file).replace(/[\u2028\u2029]/g, (sign) =>
    sign === '\u2028' ? '\\u2028' : '\\u2029',
  )
}
