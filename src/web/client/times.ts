const UNITS: [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [3600, 'minute'],
  [86_400, 'hour'],
  [7 * 86_400, 'day'],
]
/** The pages are in English, so the dates are too, whatever the language of the browser: "26 Nov 2026", 24 hours. */
const LANGUAGE = 'en-GB'
const dates = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium' })
const clock = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeStyle: 'medium' })
const ago = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'auto' })

/** Shows recent times as "5 minutes ago" or "waiting 5 min", and others in the reader's time zone. */
export function startTimes(): void {
  showTimes()
  document.addEventListener('refreshed', showTimes)
  setInterval(showTimes, 30_000)
}

/** For times that the script has added. */
export function showTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[datetime]:not(.clock)')) {
    const at = new Date(time.dateTime)
    const text = textOf(time.dataset.as, at)
    if (time.textContent !== text) time.textContent = text
  }
}

/** `as`: how the page wants it, see shell/time.tsx. */
function textOf(as: string | undefined, at: Date): string {
  if (as === 'ago') return agoText(at)
  if (as !== 'waiting' && as !== 'running') return clock.format(at)
  return `${as} ${lengthText(Date.now() - at.getTime())}`
}

/** As in `12 min`, `3 h`, `2 days`. */
function lengthText(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return '< 1 min'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h`
  return `${Math.floor(hours / 24)} days`
}

function agoText(at: Date): string {
  const seconds = (at.getTime() - Date.now()) / 1000
  if (Math.abs(seconds) < 60) return 'just now' // seconds would soon be wrong
  let size = 60
  for (const [limit, unit] of UNITS) {
    if (Math.abs(seconds) < limit) return ago.format(Math.trunc(seconds / size), unit)
    size = limit
  }
  return dates.format(at)
}
