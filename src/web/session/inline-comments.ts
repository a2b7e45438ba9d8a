import { type CommentView, placedBelow } from '../../model/comment.ts'

/** The comments that the page shows within the plan, under the lines that they are about, or near them. */
export function inlineComments(comments: readonly CommentView[]): CommentView[] {
  return comments.filter(
    (comment) =>
      comment.on === 'plan' && comment.status !== 'resolved' && placedBelow(comment) !== null,
  )
}
