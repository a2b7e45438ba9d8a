import { isDeepStrictEqual } from 'node:util'
import type { CaseEntry, Change } from './case-entry.ts'
import type { RecordFile } from './record.ts'

/** What differs between two readings of a case, by value: the same case may have been decoded from its row meanwhile. */
export function differences(before: CaseEntry | undefined, after: CaseEntry): Change[] {
  const case_id = after.id
  const changes: Change[] = []
  if (!isDeepStrictEqual(before?.file.value, after.file.value)) {
    changes.push({
      kind: 'case',
      case_id,
      before: before?.file.value ?? null,
      after: after.file.value,
    })
  }
  for (const [is, was] of pairs(before?.sessions, after.sessions)) {
    if (!isDeepStrictEqual(is, was))
      changes.push({ kind: 'session', case_id, before: was, after: is })
  }
  for (const [is, was] of pairs(before?.proofs, after.proofs)) {
    if (!isDeepStrictEqual(is, was))
      changes.push({ kind: 'proof', case_id, before: was, after: is })
  }
  return changes
}

function pairs<K, T>(
  before: Map<K, RecordFile<T | null>> | undefined,
  after: Map<K, RecordFile<T | null>>,
): [T | null, T | null][] {
  const keys = new Set([...(before?.keys() ?? []), ...after.keys()])
  return [...keys].map((key) => [after.get(key)?.value ?? null, before?.get(key)?.value ?? null])
}
