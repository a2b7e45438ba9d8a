/** Keeps the end of a pane in sight, unless its reader has scrolled up. */
export interface Following {
  of(terminal: HTMLElement | null): void
  /** Something was added. */
  grown(): void
}

/** So near to the end counts as the end. */
const NEAR = 24

export function startFollowing(): Following {
  let terminal: HTMLElement | null = null
  let isAtEnd = true

  const button = () => document.getElementById('to-end')
  const show = () => button()?.toggleAttribute('hidden', isAtEnd)
  const toEnd = () => {
    if (terminal) terminal.scrollTop = terminal.scrollHeight
  }
  const look = () => {
    if (!terminal) return
    isAtEnd = terminal.scrollHeight - terminal.scrollTop - terminal.clientHeight < NEAR
    show()
  }

  document.addEventListener('click', (event) => {
    if (!(event.target as Element).closest('#to-end')) return
    isAtEnd = true
    toEnd()
    show()
    terminal?.focus()
  })

  return {
    of(next) {
      terminal?.removeEventListener('scroll', look)
      terminal = next
      isAtEnd = true
      terminal?.addEventListener('scroll', look, { passive: true })
      toEnd()
      show()
    },
    grown() {
      if (isAtEnd) toEnd()
    },
  }
}
