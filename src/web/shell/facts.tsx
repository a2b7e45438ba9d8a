import type { Child } from 'hono/jsx'
import { CodeName } from '../../rendering/highlight/code-view.tsx'

/** A row of a list of facts. */
export function Fact({ label, children }: { label: Child; children: Child }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}

/** In one line, with commas between them. */
export function Listed({ items }: { items: readonly Child[] }) {
  return <>{items.flatMap((item, index) => (index === 0 ? [item] : [', ', item]))}</>
}

interface FileNamesProps {
  names: readonly string[]
  limit?: number
  /** How many more there are, besides those beyond the limit. */
  more?: number
  /** Where the others are. */
  where?: string
}

export function FileNames({ names, limit = names.length, more = 0, where = '' }: FileNamesProps) {
  const left = Math.max(0, names.length - limit) + more
  return (
    <>
      <ul class="file-names stack">
        {names.slice(0, limit).map((name) => (
          <li>
            <CodeName name={name} />
          </li>
        ))}
      </ul>
      {left > 0 && (
        <p class="muted small">
          and {left} more{where}
        </p>
      )}
    </>
  )
}
