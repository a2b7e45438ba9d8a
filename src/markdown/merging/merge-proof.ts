import { readDocument } from '../document.ts'
import { choose, type Versions } from '../merge.ts'
import { mergeKeys, splitAtBody } from '../merge-record.ts'
import type { MergedText } from './merge-text.ts'

/**
 * Merges a proof file by keys. Only if both sides have the same content: what one verified must not be said of what
 * the other wrote. If both verified it, the earlier one stays.
 */
export function mergeProof(versions: Versions): MergedText {
  const chosen = choose(versions)
  if (chosen !== null) return { text: chosen, isLossy: false }
  const ours = { text: versions.ours, isLossy: true }
  const [heads, bodies] = splitAtBody(versions) ?? []
  if (!heads || !bodies || bodies.ours !== bodies.theirs) return ours
  const [mine, other] = [fieldsIn(heads.ours), fieldsIn(heads.theirs)]
  if (mine?.get('sha256')?.text !== other?.get('sha256')?.text) return ours
  const [since, before] = [mine?.get('verified_at')?.text, other?.get('verified_at')?.text]
  const isLater = Boolean(before) && before! < (since ?? '')
  let isLossy = false
  const head = mergeKeys(heads, (lines, key) => {
    const block = choose(lines)
    if (block !== null) return block
    if (!VERIFICATION.has(key)) isLossy = true
    return isLater && VERIFICATION.has(key) ? lines.theirs : lines.ours
  })
  return head === null ? ours : { text: head + bodies.ours, isLossy }
}

const VERIFICATION: ReadonlySet<string> = new Set(['verified_at', 'verified_by', 'meets'])

function fieldsIn(head: string) {
  const read = readDocument(head)
  return read.ok ? read.document.fields : null
}
