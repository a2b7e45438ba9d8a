const LAYOUT = 'casefile.diff'

/** What the page remembers if the browser blocks storage. */
let here: string | null = null

/** The layout of diffs that was chosen last in this browser. */
export function storedLayout(): string | null {
  try {
    return localStorage.getItem(LAYOUT)
  } catch {
    return here
  }
}

export function saveLayout(layout: string): void {
  try {
    localStorage.setItem(LAYOUT, layout)
  } catch {
    here = layout
  }
}
