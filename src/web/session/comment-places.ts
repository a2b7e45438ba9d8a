import type { CommentView } from '../../model/comment.ts'

/** The comments that the page shows within the plan, under the line that they are about. */
export function inlineComments(comments: readonly CommentView[]): CommentView[] {
  return comments.filter(
    ({ on, status, present_line }) =>
      on === 'plan' && present_line !== null && (status === 'draft' || status === 'open'),
  )
}

/** The last line of a comment in the present plan. */
export function presentEnd({ line, end_line, present_line }: CommentView): number {
  return present_line! + (end_line ?? line!) - line!
}
