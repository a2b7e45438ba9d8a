import { capital } from '../../model/one-line.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'

interface HintProps {
  id: string
  /** What it explains, for assistive technology. */
  about: string
  texts: readonly (string | undefined)[]
}

/** What is rarely asked, behind a "?". */
export function Hint({ id, about, texts }: HintProps) {
  const shown = texts.filter((text) => text !== undefined && text !== '')
  if (shown.length === 0) return null
  return (
    <details class="hint-box" id={id}>
      <summary aria-label={`More about ${about}`}>?</summary>
      <div>
        {shown.map((text) => (
          <p>{visibleText(capital(text!))}</p>
        ))}
      </div>
    </details>
  )
}
