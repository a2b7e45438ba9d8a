import { CASES } from './addresses.ts'

interface BreadcrumbsProps {
  /** What is between the list of cases and this page. */
  path: readonly { name: string; href: string }[]
  /** This page; null on the page of a case, whose heading says it. */
  here: string | null
}

/** The way from the list of cases to this page. */
export function Breadcrumbs({ path, here }: BreadcrumbsProps) {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <ol>
        {[{ name: 'Cases', href: CASES }, ...path].map(({ name, href }) => (
          <li>
            <a href={href} dir="auto">
              {name}
            </a>
          </li>
        ))}
        {here !== null && <li aria-current="page">{here}</li>}
      </ol>
    </nav>
  )
}
