import { visibleProse } from '../../rendering/hidden-characters.ts'

const MOST = 400

/** Why a case is in its state; the rest of a long reason opens with a click. */
export function Reason({ text }: { text: string }) {
  const shown = visibleProse(text)
  if (shown.length <= MOST + 80)
    return (
      <p class="state-reason" dir="auto">
        {shown}
      </p>
    )
  return (
    <details class="state-reason long-reason" id="reason">
      <summary dir="auto">
        <span class="reason-cut">{shown.slice(0, MOST).toWellFormed()} … </span>
        <span class="reason-more" />
      </summary>
      <p dir="auto">{shown}</p>
    </details>
  )
}
