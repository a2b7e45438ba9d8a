import type { Session } from '../../model/session.ts'
import type { Busy } from '../../sessions/approval-view.ts'
import { sessionApi, sessionPage } from '../shell/addresses.ts'
import { Isolated } from '../shell/isolated.tsx'

/** Above the button: what an approval would wait for. */
export function BusyNotice({ occupant }: { occupant: Busy }) {
  const { case_id, number, title, isWaiting, limit, canWait } = occupant
  const does =
    limit !== null
      ? `${isWaiting ? 'waits to work' : 'works'} in a worktree, and only ${limit} at the same time may (parallel in casefile.md)`
      : `${isWaiting ? 'waits for' : 'works in'} this working folder`
  return (
    <p class="notice" data-tone="warn" id="folder-busy">
      <a href={sessionPage(case_id, number)}>
        Session {number} of <Isolated text={title} />
      </a>{' '}
      {does}.{' '}
      {canWait
        ? 'Your approval can wait in line. The plan then starts by itself, on what the working folder has by then.'
        : 'Approve when it has ended. Without git, an approval cannot wait in line.'}
    </p>
  )
}

/** Takes an approved session out of the line. */
export function LeaveLineForm({ session }: { session: Session }) {
  return (
    <form
      class="needs-script"
      id="leave-line-form"
      data-send="DELETE"
      data-focus="#session-head h1"
      action={`${sessionApi(session)}/queue`}
    >
      <button type="submit" id="leave-line">
        Take it out of the line
      </button>
    </form>
  )
}
