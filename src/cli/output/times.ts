const UNITS = [
  ['y', 31_536_000],
  ['mo', 2_592_000],
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const

/** A time relative to now, for a person: `3 min ago`. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.floor((now - Date.parse(time)) / 1000)
  if (Number.isNaN(seconds)) return time
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ['', 0]
  return size === 0 ? 'just now' : `${Math.floor(seconds / size)} ${unit} ago`
}

/** The local time of day: `14:03:07`. */
export function clock(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return '--:--:--'
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
