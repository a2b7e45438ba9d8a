import type { Requirement } from '../../markdown/requirement-line.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'

/** A requirement of a case that does not exist yet, on the server and in the browser. */
export function RequirementItem({ item }: { item: Requirement }) {
  const { description, type, required } = item
  return (
    <li>
      <span class="gate-mark" aria-hidden="true">
        {required ? '○' : '–'}
      </span>
      <span>
        <bdi dir={directionOf(description)}>{visibleProse(description)}</bdi>{' '}
        <span class="small muted">
          {type}
          {required ? ', required' : ', optional'}
        </span>
      </span>
    </li>
  )
}
