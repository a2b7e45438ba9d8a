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

/** `0.4 s`, `12 s`, `3:07 min`, `1:02:03 h`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`
  return `${elapsed(ms)} ${ms < 3_600_000 ? 'min' : 'h'}`
}

/** `0:12`, `3:07`, `1:02:03`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h > 0 ? `${h}:${twoDigits(m)}:${twoDigits(s)}` : `${m}:${twoDigits(s)}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
