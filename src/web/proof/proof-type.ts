/** Pure. The type of proof that a file of this name mostly is. */
export function proofTypeOf(filename: string): string {
  if (/\.(tap|xml|jsonl)$/i.test(filename)) return 'test-log'
  if (/\.(patch|diff)$/i.test(filename)) return 'diff'
  return 'log'
}
