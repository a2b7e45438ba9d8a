import { needYouText } from '../../model/state-groups.ts'
import { onEventInOneTab } from './live.ts'
import { onNote, sendNote } from './shared-events.ts'

const COUNT = 'waiting'
/** Events come in bursts; one of the tabs counts once for all of them. */
const COUNT_MS = 1_000
const WAITING = '/triage?needs=any&limit=1'

/**
 * Marks the tab: the icon shows by its form what the page says in `data-mark`, or else that another case waits. The
 * number beside "Cases" is that of the cases that need a person.
 */
export function startTabMark(): void {
  showIcon()
  document.addEventListener('refreshed', showIcon)
  onNote(COUNT, (value) => showCount(Number(value)))
  let isCounting = false
  onEventInOneTab(() => {
    if (isCounting) return
    isCounting = true
    setTimeout(() => {
      isCounting = false
      void count()
    }, COUNT_MS)
  })
  // a page that comes back after a while may show an old number
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void count()
  })
}

async function count(): Promise<void> {
  try {
    const response = await fetch(WAITING)
    const total = Number(response.headers.get('x-total-count') ?? Number.NaN)
    if (!response.ok || Number.isNaN(total)) return
    sendNote(COUNT, total)
    showCount(total)
  } catch {
    // the service is away; the next event counts again
  }
}

function showCount(count: number): void {
  const place = document.getElementById('waiting-count')
  if (!place || place.dataset.count === String(count)) return
  place.dataset.count = String(count)
  place.title = needYouText(count)
  place.querySelector('[aria-hidden]')!.textContent = String(count)
  place.querySelector('.visually-hidden')!.textContent = `, ${needYouText(count)}`
  place.hidden = count === 0
  showIcon()
}

function showIcon(): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (!icon) return
  const waiting = Number(document.getElementById('waiting-count')?.dataset.count ?? 0)
  const mark = document.querySelector('main')?.dataset.mark ?? (waiting > 0 ? 'other' : 'none')
  const href = icon.dataset[`icon${mark.charAt(0).toUpperCase()}${mark.slice(1)}`]
  if (href && icon.getAttribute('href') !== href) icon.setAttribute('href', href)
}
