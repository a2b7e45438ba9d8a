import { counted } from '../../model/amounts.ts'
import { CASES } from '../shell/addresses.ts'
import type { CaseView } from './case-view.ts'

export function DangerCard({ view: { id, json, etag, sessions, proofs } }: { view: CaseView }) {
  const [ofSessions, ofProofs] = [
    counted(sessions.length, 'session'),
    counted(proofs.length, 'proof'),
  ]
  return (
    <details class="danger-zone needs-script" id="danger">
      <summary class="small muted">Delete this case</summary>
      <form
        class="form"
        id="delete-case"
        data-send="DELETE"
        action={`/cases/${id}`}
        data-if-match={etag}
        data-then={CASES}
        data-confirm={`Delete "${json.title}" with ${ofSessions}, ${ofProofs} and all files of its folder? Only git could bring them back.`}
      >
        <p class="small">
          Its folder is deleted with {ofSessions}, {ofProofs} and all memory files.
        </p>
        <div>
          <button type="submit" class="danger">
            Delete the case
          </button>
        </div>
      </form>
    </details>
  )
}
