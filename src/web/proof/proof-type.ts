/** Pure. The likely type of proof, by the name of the file. */
export function proofTypeOf(filename: string): string {
  if (/\.(tap|xml|jsonl)$/i.test(filename)) return 'test-log'
  if (/\.(patch|diff)$/i.test(filename)) return 'diff'
  if (/\.(png|jpe?g|webp|gif)$/i.test(filename)) return 'screenshot'
  return 'log'
}
