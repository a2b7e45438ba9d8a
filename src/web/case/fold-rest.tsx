import type { Child } from 'hono/jsx'

interface FoldRestProps<T> {
  /** Of the fold, so that it stays as the reader has it. */
  id: string
  items: readonly T[]
  most: number
  /** What is behind it, as "All 300 sessions". */
  label: string
  /** Makes the list of some of the items. */
  list: (items: readonly T[], start: number) => Child
}

/** The first items of a long list, and the others folded away below them. */
export function FoldRest<T>({ id, items, most, label, list }: FoldRestProps<T>) {
  // one or two more are shorter than the fold that would hide them
  const shown = items.length <= most + 2 ? items.length : most
  return (
    <>
      {list(items.slice(0, shown), 0)}
      {shown < items.length && (
        <details class="fold-rest" id={id}>
          <summary>{label}</summary>
          {list(items.slice(shown), shown)}
        </details>
      )}
    </>
  )
}
