import type { Sent } from './send.ts'

/**
 * After a form has worked it is folded away or gone, and with it the focus. It goes to what the form
 * names in `data-focus`, a selector with `{name}` from the answer, else to the button that opened it.
 */
export function startFocusAfter(): void {
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLFormElement }
    if (detail.ok) focusAfter(target, detail.body)
  })
  document.addEventListener('refreshed', place)
}

/** For a form that sends by itself. */
export function focusAfter(form: HTMLFormElement, answer: Record<string, unknown>): void {
  if (form.dataset.then) return
  const selector = form.dataset.focus?.replace(/\{(\w+)\}/g, (_, name: string) =>
    CSS.escape(String(answer[name])),
  )
  const fold = form.closest<HTMLElement>('details.fold')
  if (!selector && !fold) return
  const until = performance.now() + PATIENCE_MS
  const from = document.activeElement
  wanted = { selector: selector ?? `#${CSS.escape(fold!.id)} > summary`, from, until }
}

/** A refresh that was under way may still show the page as it was before, with the focus where it was. */
const PATIENCE_MS = 5_000

let wanted: { selector: string; from: Element | null; until: number } | null = null

function place(): void {
  if (!wanted) return
  if (performance.now() > wanted.until) {
    wanted = null
    return
  }
  if (!isLost()) {
    if (document.activeElement !== wanted.from) wanted = null
    return
  }
  const target = document.querySelector<HTMLElement>(wanted.selector)
  if (!target) return
  wanted = null
  if (target.tabIndex < 0) target.tabIndex = -1
  target.focus()
}

/** Whether nobody has put the focus elsewhere meanwhile; what is hidden has none. */
function isLost(): boolean {
  const { activeElement } = document
  return !activeElement || activeElement === document.body || !activeElement.checkVisibility()
}
