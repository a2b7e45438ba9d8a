/** A length of time as people say it: `840 ms`, `3.2 s`, `2 min 5 s`, `1 h 20 min`. */
export function spanText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return joined(minutes, 'min', seconds % 60, 's')
  return joined(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
}

function joined(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`
}
