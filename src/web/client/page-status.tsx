import { element } from './dom.ts'

/** Why the page may be out of date: the service is not heard from, or the page could not be fetched. */
type StaleReason = 'away' | 'behind'

const TEXTS: Record<StaleReason, string> = {
  away: 'Casefile isn’t responding. Retrying…',
  behind: 'Out of date. Retrying…',
}

const reasons = new Set<StaleReason>()

/** Shows in the header whether the page is live. */
export function setStale(reason: StaleReason, isStale: boolean): void {
  if (isStale) reasons.add(reason)
  else reasons.delete(reason)
  const status = document.getElementById('live')
  if (!status || !document.body.dataset.live) return
  const shown = (['away', 'behind'] as const).find((each) => reasons.has(each))
  status.dataset.connection = shown ? 'cut' : 'live'
  const text = shown ? TEXTS[shown] : 'Live'
  if (status.textContent !== text) status.textContent = text
}

const disabled = new Set<HTMLButtonElement>()

/** Shows that the case, session, proof or file of this page was deleted, and disables its forms until it is back. */
export function showDeleted(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('main form [type=submit]')) {
    if (button.disabled) continue
    button.disabled = true
    disabled.add(button)
  }
  if (document.getElementById('gone')) return
  const hasText = document.querySelector('form[data-dirty]') !== null
  const banner = element(
    <div id="gone" class="notice" data-tone="bad" data-own="" role="alert">
      <strong>What this page shows no longer exists.</strong> It was deleted, or git removed its
      files. If it comes back, this page shows it again.
      {hasText && ' Your unsaved text is still here to copy.'}
    </div>,
  )
  document.querySelector('main')?.prepend(banner)
}

export function hideDeleted(): void {
  document.getElementById('gone')?.remove()
  for (const button of disabled) button.disabled = false
  disabled.clear()
}
