/** @param {readonly number[]} times @returns {{ p50: number, p99: number }} */
export function spreadOf(times) {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (/** @type {number} */ part) => Number(sorted[Math.ceil(sorted.length * part) - 1])
  return { p50: at(0.5), p99: at(0.99) }
}

/** @param {readonly number[]} figures */
export function median(figures) {
  return spreadOf(figures).p50
}
