import { directionOf } from '../../rendering/direction.ts'
import { visibleProse } from '../../rendering/hidden-characters.ts'

interface BreadcrumbsProps {
  /** The pages above this one, from the list of cases down. */
  above: readonly { href: string; text: string }[]
  /** What this page is called. */
  current: string
}

export function Breadcrumbs({ above, current }: BreadcrumbsProps) {
  return (
    <nav class="crumbs small muted" aria-label="Breadcrumb">
      <ol>
        {above.map(({ href, text }) => (
          <li>
            <a href={href} dir={directionOf(text)}>
              {visibleProse(text)}
            </a>
          </li>
        ))}
        <li aria-current="page" dir={directionOf(current)}>
          {visibleProse(current)}
        </li>
      </ol>
    </nav>
  )
}
