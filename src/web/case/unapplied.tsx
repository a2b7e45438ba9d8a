import { visibleText } from '../../rendering/hidden-characters.ts'
import { sessionPage } from '../shell/addresses.ts'
import type { CasePageData } from './data.ts'

/** Says which work of isolated sessions the working folder does not have yet. */
export function UnappliedWork({
  data: { id, unapplied },
  name,
}: {
  data: Pick<CasePageData, 'id' | 'unapplied'>
  /** The beginning of the ids of the notices. */
  name: string
}) {
  return (
    <>
      {unapplied.map(({ number, text }) => (
        <div class="notice with-actions" data-tone="warn" id={`${name}-${number}`}>
          <p>{visibleText(text)}</p>
          <a class="button" href={`${sessionPage(id, number)}#worktree`}>
            Go to session {number}
          </a>
        </div>
      ))}
    </>
  )
}
