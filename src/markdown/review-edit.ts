import { type Comment, type CommentChange, commentIn } from '../model/comment.ts'
import type { LineEnding } from './lines.ts'
import {
  commentLines,
  hasComments,
  NO_COMMENTS_LEFT,
  type ReviewEntry,
  readReview,
  replyLines,
  textLines,
} from './review.ts'

/** Applies a change to the text below `## Review`. Only the lines of its comment change. */
export function editedReview(region: string, change: CommentChange, eol: LineEnding): string {
  if (change.is === 'added') return withComment(region, change.comment, eol)
  const entry = entryOf(region, change.id)
  switch (change.is) {
    case 'edited': {
      const { body, comment } = entry
      return spliced(region, body, textLines(change.text, comment.quote), eol)
    }
    case 'answered': {
      const { next, comment } = entry
      const gap = comment.quote === '' && comment.text === '' ? [] : ['']
      return spliced(region, { from: next, to: next }, [...gap, ...replyLines(change.reply)], eol)
    }
    case 'marked':
      return withMarks(region, entry, change)
    case 'deleted':
      return withoutEntry(region, entry, eol)
    default:
      return change satisfies never
  }
}

function entryOf(region: string, id: string): ReviewEntry {
  const { entries } = readReview(region)
  commentIn(
    entries.map(({ comment }) => comment),
    id,
  )
  return entries.find(({ comment }) => comment.id === id)!
}

/** Adds a comment below the last line that is not blank. */
function withComment(region: string, comment: Comment, eol: LineEnding): string {
  const at = region.trimEnd().length
  if (at === 0) return commentLines(comment).join(eol)
  const rest = region.slice(at)
  const end = /^[ \t]*(?:\r\n|\n|\r)/.exec(rest)?.[0].length ?? 0
  const isBelowComment = readReview(region).entries.some(({ next }) => next >= at)
  const lines = [...(isBelowComment ? [] : ['']), ...commentLines(comment)]
  return spliced(region, { from: at + end, to: at + end }, lines, eol)
}

function withoutEntry(region: string, { start, next }: ReviewEntry, eol: LineEnding): string {
  const rest = region.slice(0, start) + region.slice(next)
  if (rest.trim() === '' || hasComments(rest)) return rest
  return spliced(rest, { from: start, to: start }, [NO_COMMENTS_LEFT], eol)
}

function withMarks(
  region: string,
  { box, mark }: ReviewEntry,
  { sent, resolved }: Extract<CommentChange, { is: 'marked' }>,
): string {
  // the word first, so that the offset of the box stays right
  const word =
    sent === undefined
      ? region
      : region.slice(0, mark.from) + (sent ? 'sent' : 'draft') + region.slice(mark.to)
  const isTicked = word[box] !== ' '
  if (resolved === undefined || resolved === isTicked) return word
  return word.slice(0, box) + (resolved ? 'x' : ' ') + word.slice(box + 1)
}

/** Replaces whole lines. */
function spliced(
  region: string,
  { from, to }: { from: number; to: number },
  lines: readonly string[],
  eol: LineEnding,
): string {
  const before = region.slice(0, from)
  const gap = before === '' || /[\r\n]$/.test(before) ? '' : eol
  return before + gap + lines.map((line) => line + eol).join('') + region.slice(to)
}
