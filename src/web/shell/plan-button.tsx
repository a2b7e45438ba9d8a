import { usualSessionType } from '../../model/case-state.ts'
import { sessionPage } from './addresses.ts'

interface PlanButtonProps {
  id?: string
  caseId: string
  /** The type of the case, from which the task of the session follows. */
  caseType: string
  /** Another one than that of the case. */
  provider?: string
  hidden?: boolean
}

/** Plans a case with one click, and leads to the plan. */
export function PlanButton({ id, caseId, caseType, provider, hidden }: PlanButtonProps) {
  return (
    <form
      class="needs-script"
      id={id}
      data-send="POST"
      action={`/cases/${caseId}/sessions`}
      data-then={sessionPage(caseId, '{number}')}
      hidden={hidden}
    >
      <input type="hidden" name="type" value={usualSessionType(caseType)} />
      {provider && <input type="hidden" name="provider" value={provider} />}
      <button type="submit" class="primary" data-key="a">
        Plan this case
      </button>
    </form>
  )
}
