/** Pure. `1 step`, `3 steps`; `many` is for a plural of its own. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Pure. A number of bytes as people read it: `812 B`, `4.1 KiB`, `2.0 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const [size, unit] = bytes < 1023.95 * 1024 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB']
  return `${size.toFixed(1)} ${unit}`
}
