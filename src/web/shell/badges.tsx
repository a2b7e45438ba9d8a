import { stateLabel } from '../../model/state-groups.ts'

/** The state of a case or a session; its colour is given by the style sheet, its meaning by the word. */
export function StateBadge({ state }: { state: string }) {
  return (
    <span class="state" data-state={state}>
      {stateLabel(state)}
    </span>
  )
}
