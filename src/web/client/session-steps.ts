/**
 * Keeps the running step in sight within the list, which scrolls in itself, until the reader scrolls it;
 * once the running step is in sight again, it is followed again.
 */
export function followSteps(): void {
  let followed = true
  let shown: string | null = null
  /** Where this put the list: the event of that is not the reader's. */
  let ownScroll = -1
  show()
  document.addEventListener('refreshed', show)
  document.addEventListener('scroll', lookedAt, { capture: true, passive: true })

  function show(): void {
    const { list, row } = running()
    if (!list || !row || row.id === shown) return
    shown = row.id
    if (!followed) return
    // not scrollIntoView, which would scroll the page, too
    list.scrollTop = row.offsetTop - (list.clientHeight - row.offsetHeight) / 2
    ownScroll = list.scrollTop
  }

  function lookedAt({ target }: Event): void {
    const { list, row } = running()
    if (!list || !row || target !== list || list.scrollTop === ownScroll) return
    const top = row.offsetTop - list.scrollTop
    followed = top >= 0 && top + row.offsetHeight <= list.clientHeight
  }
}

function running(): { list: HTMLElement | null; row: HTMLElement | null } {
  const list = document.getElementById('step-rows')
  return { list, row: list?.querySelector('[data-step-state="running"]') ?? null }
}
