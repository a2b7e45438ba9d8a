/** A count as people read it: `5,000`. */
export function number(count: number): string {
  return count.toLocaleString('en')
}
