import { counted } from '../../model/amounts.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'
import type { SessionPageData } from './data.ts'
import { Comment } from './plan-comments.tsx'

/**
 * The comments on the changes of a run, and the way to send them: with a new session, since this one has run.
 * client/diff-comments.tsx also shows each below its line.
 */
export function DiffComments({ data }: { data: SessionPageData }) {
  const { session, comments, planObjection, drafts } = data
  const listed = comments.filter(({ on }) => on === 'diff')
  if (listed.length === 0 && drafts === 0) return null
  return (
    <section class="review stack" id="diff-comments" aria-label="Comments on the changes">
      {listed.map((comment) => (
        <Comment comment={comment} data={data} hasQuote />
      ))}
      {drafts > 0 && session.state === 'complete' && session.origin !== 'terminal' && (
        <form
          class="actions needs-script"
          id="send-comments"
          data-send="POST"
          action={`/cases/${session.case_id}/sessions`}
          data-then={sessionPage(session.case_id, '{number}')}
        >
          <input type="hidden" name="again" value={session.id} />
          <button type="submit" class="primary" disabled={planObjection !== null}>
            Plan again with {counted(drafts, 'comment')}
          </button>
          <span class="muted small">
            {planObjection === null
              ? 'Starts a new session, whose plan needs your approval.'
              : visibleText(planObjection)}
          </span>
        </form>
      )}
    </section>
  )
}
