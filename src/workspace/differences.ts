/** Finds the files of a case that differ between two reads. */

import { isDeepStrictEqual } from 'node:util'
import type { CaseEntry, Change } from './case-entry.ts'
import type { RecordFile } from './record.ts'

/**
 * Returns the changes between two reads of a case: files with other bytes, or the same bytes with another value.
 * Compares by value, as a case may have been loaded from the database since.
 */
export function differences(before: CaseEntry | undefined, after: CaseEntry): Change[] {
  const case_id = after.id
  const changes: Change[] = []
  if (!isSame(before?.file, after.file)) {
    changes.push({
      kind: 'case',
      case_id,
      before: before?.file.value ?? null,
      after: after.file.value,
    })
  }
  for (const [is, was] of pairs(before?.sessions, after.sessions)) {
    if (isSame(is, was)) continue
    changes.push({
      kind: 'session',
      case_id,
      before: was?.value ?? null,
      after: is?.value ?? null,
    })
  }
  for (const [is, was] of pairs(before?.proofs, after.proofs)) {
    if (isSame(is, was)) continue
    changes.push({
      kind: 'proof',
      case_id,
      before: was?.value ?? null,
      after: is?.value ?? null,
    })
  }
  return changes
}

type Read<T> = RecordFile<T> | undefined

function isSame(one: Read<unknown>, other: Read<unknown>): boolean {
  if (one?.value === other?.value) return true
  return one?.hash === other?.hash && isDeepStrictEqual(one?.value, other?.value)
}

function pairs<K, T>(
  before: Map<K, RecordFile<T | null>> | undefined,
  after: Map<K, RecordFile<T | null>>,
): [Read<T | null>, Read<T | null>][] {
  const keys = new Set([...(before?.keys() ?? []), ...after.keys()])
  return [...keys].map((key) => [after.get(key), before?.get(key)])
}
