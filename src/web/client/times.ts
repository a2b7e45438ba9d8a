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

/** Shows how long ago recent times are, and the date of older ones in the reader's time zone. */
export function startTimes(): void {
  showTimes()
  document.addEventListener('refreshed', () => showTimes())
  setInterval(showTimes, 30_000)
}

/** Within an element that was just added. */
export function showTimes(within: ParentNode = document): void {
  for (const time of within.querySelectorAll<HTMLTimeElement>('time[datetime]:not(.clock)')) {
    const at = new Date(time.dateTime)
    const text = time.hasAttribute('data-ago') ? agoText(at) : clock.format(at)
    if (time.textContent !== text) time.textContent = text
  }
}

function agoText(at: Date): string {
  const seconds = (at.getTime() - Date.now()) / 1000
  if (Math.abs(seconds) < 60) return 'just now' // seconds would soon be wrong
  let size = 60
  for (const [limit, unit] of UNITS) {
    if (Math.abs(seconds) < limit) return ago.format(Math.round(seconds / size), unit)
    size = limit
  }
  return dates.format(at)
}
