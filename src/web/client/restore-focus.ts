import type { Sent } from './send.ts'

/**
 * A form that was sent is closed or gone, and with it the focus. The focus goes to the element that the form names in
 * `data-focus`, else to the button that opened it.
 */
export function startRestoringFocus(): void {
  document.addEventListener('sent', (event) => {
    const { target, detail } = event as CustomEvent<Sent> & { target: HTMLFormElement }
    if (detail.ok) restoreFocusAfter(target, detail.body)
  })
  document.addEventListener('refreshed', restore)
}

/** For a form that does not send through forms.tsx. */
export function restoreFocusAfter(form: HTMLFormElement, answer: Record<string, unknown>): void {
  if (form.dataset.then) return
  const selector = form.dataset.focus?.replace(/\{(\w+)\}/g, (_, name: string) =>
    CSS.escape(String(answer[name])),
  )
  const disclosure = form.closest<HTMLElement>('details.disclosure')
  if (!selector && !disclosure) return
  pending = {
    selector: selector ?? `#${CSS.escape(disclosure!.id)} > summary`,
    from: document.activeElement,
    until: performance.now() + MAX_WAIT_MS,
  }
}

/** A refresh that was under way may still show the page as it was before, with the focus where it was. */
const MAX_WAIT_MS = 5_000

let pending: { selector: string; from: Element | null; until: number } | null = null

function restore(): void {
  if (!pending) return
  if (performance.now() > pending.until) {
    pending = null
    return
  }
  if (!isFocusLost()) {
    if (document.activeElement !== pending.from) pending = null
    return
  }
  const target = document.querySelector<HTMLElement>(pending.selector)
  if (!target) return
  pending = null
  if (target.tabIndex < 0) target.tabIndex = -1
  target.focus()
}

/** False once the operator has put it elsewhere. A hidden element has no focus. */
function isFocusLost(): boolean {
  const { activeElement } = document
  return !activeElement || activeElement === document.body || !activeElement.checkVisibility()
}
