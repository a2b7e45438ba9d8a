import { readDocument } from '../document.ts'
import { choose, type Versions } from '../merge.ts'
import { mergeKeys, splitAtBody } from '../merge-record.ts'
import type { MergedText } from './merge-text.ts'

/**
 * Merges a proof file by keys. Only if both sides have the same content: what one verified must not be said of what
 * the other wrote. If both verified it, the earlier time stays.
 */
export function mergeProof(versions: Versions): MergedText {
  const chosen = choose(versions)
  if (chosen !== null) return { text: chosen, isLossy: false }
  const ours = { text: versions.ours, isLossy: true }
  const [heads, bodies] = splitAtBody(versions) ?? []
  if (!heads || !bodies || bodies.ours !== bodies.theirs) return ours
  if (hashIn(heads.ours) !== hashIn(heads.theirs)) return ours
  let isLossy = false
  const head = mergeKeys(heads, (lines, key) => {
    const block = choose(lines)
    if (block !== null) return block
    if (key === 'verified_at' && lines.theirs.includes('T') && lines.theirs < lines.ours)
      return lines.theirs
    if (key !== 'verified_at') isLossy = true
    return lines.ours
  })
  return head === null ? ours : { text: head + bodies.ours, isLossy }
}

function hashIn(head: string): string | null {
  const read = readDocument(head)
  return read.ok ? (read.document.fields?.get('sha256')?.text ?? null) : null
}
