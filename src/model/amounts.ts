/** Formats a count with its noun: `1 step`, `3 steps`. `many` is an irregular plural. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** `23 of 23 tests passed` */
export function testsText({ run, passed }: { run: number; passed: number }): string {
  return `${passed} of ${counted(run, 'test')} passed`
}

/** `1 file, +1 −1`; null for a diff without a file. */
export function diffText(
  diff: { file: string; files?: readonly unknown[]; additions: number; deletions: number } | null,
): string | null {
  if (!diff?.file) return null
  return `${counted(diff.files?.length ?? 1, 'file')}, +${diff.additions} −${diff.deletions}`
}

/** What is known of these, in one line; undefined for none. */
export function resultText(...parts: (string | null)[]): string | undefined {
  return parts.filter((part) => part !== null).join(', ') || undefined
}

/** The first of many names: `a, b and 3 more`. */
export function firstOf(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return names.slice(0, most).join(', ') + more
}

/** Formats a number: `5,000`. */
export function numberText(count: number): string {
  return count.toLocaleString('en')
}

/** Formats a number of bytes: `812 B`, `4.1 KiB`, `2.0 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const [size, unit] = bytes < 1023.95 * 1024 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB']
  return `${size.toFixed(1)} ${unit}`
}

/** Formats a duration: `840 ms`, `3.2 s`, `2 min 5 s`, `1 h 20 min`, `4 d 3 h`. */
export function spanText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return joined(minutes, 'min', seconds % 60, 's')
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return joined(hours, 'h', minutes % 60, 'min')
  return joined(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

function joined(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`
}

/** Formats how long a step took: `0.4 s`, `12 s`, `3:07 min`, `1:02:03 h`. */
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
