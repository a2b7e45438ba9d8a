import { visibleProse } from '../../rendering/hidden-characters.ts'

interface BreadcrumbsProps {
  /** The pages above this one, from the list of cases down. */
  above: readonly { href: string; text: string }[]
  /** What this page is called. */
  current: string
}

export function Breadcrumbs({ above, current }: BreadcrumbsProps) {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <ol>
        {above.map(({ href, text }) => (
          <li>
            <a href={href} dir="auto">
              {visibleProse(text)}
            </a>
          </li>
        ))}
        <li aria-current="page" dir="auto">
          {visibleProse(current)}
        </li>
      </ol>
    </nav>
  )
}
