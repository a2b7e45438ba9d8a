import type { Child } from 'hono/jsx'

/** What is needed now and then, behind "⋯". client/disclosure.ts closes it. */
export function Menu({ children }: { children: Child }) {
  return (
    <details class="menu" id="menu">
      <summary class="button quiet" aria-label="More">
        ⋯
      </summary>
      <div class="menu-items">{children}</div>
    </details>
  )
}

interface MenuItemProps {
  /** The id of the form or the part of the page that it opens. */
  opens: string
  shortcut?: string
  children: Child
}

export function MenuItem({ opens, shortcut, children }: MenuItemProps) {
  return (
    <button type="button" class="quiet needs-script" data-opens={opens} data-key={shortcut}>
      {children}
    </button>
  )
}

/** A part of a page that is opened from its menu. */
export function Panel({ id, title, children }: { id: string; title: string; children: Child }) {
  return (
    <details class="card panel" id={id}>
      <summary>{title}</summary>
      {children}
    </details>
  )
}
