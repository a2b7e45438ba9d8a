const UNITS: [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [3600, 'minute'],
  [86_400, 'hour'],
  [7 * 86_400, 'day'],
]
const dates = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
})
const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Says of recent times how long ago they are, and of others when they were by the reader's clock. */
export function startTimes(): void {
  showTimes()
  document.addEventListener('refreshed', () => showTimes())
  setInterval(showTimes, 30_000)
}

/** Below an element, which came just now. */
export function showTimes(within: ParentNode = document): void {
  for (const time of within.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const at = new Date(time.dateTime)
    const text = time.hasAttribute('data-ago') ? agoText(at) : clockText(at)
    if (time.textContent !== text) time.textContent = text
  }
}

function agoText(at: Date): string {
  const seconds = (at.getTime() - Date.now()) / 1000
  if (Math.abs(seconds) < 60) return 'just now' // what counts seconds would be wrong until it is shown anew
  let size = 60
  for (const [limit, unit] of UNITS) {
    if (Math.abs(seconds) < limit) return format.format(Math.round(seconds / size), unit)
    size = limit
  }
  return dates.format(at)
}

function clockText(at: Date): string {
  return at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}
