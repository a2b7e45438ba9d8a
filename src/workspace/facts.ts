/** Computes the facts of a case, which the publisher compares to find events. */

import { hash as hashOf } from 'node:crypto'
import type { Case } from '../model/case.ts'
import type { CaseFacts, NoteFacts, ProofFacts } from '../model/case-facts.ts'
import { type CaseFolder, shownState } from '../model/case-folder.ts'
import { countsAsVerified } from '../model/proof.ts'
import { nextTrailNumber } from '../model/trail.ts'
import { nextCauses } from '../model/waiting.ts'
import type { CaseEntry } from './case-entry.ts'

/** Returns the facts of a case from its current files. If case.md is unreadable, state and fields stay as published. */
export function factsOf(entry: CaseEntry, folder: CaseFolder, before: CaseFacts | null): CaseFacts {
  const { readable } = entry.file
  const proofs: Record<string, ProofFacts> = {}
  for (const proof of folder.proofs) {
    const { hash } = entry.proofs.get(proof.id)!
    // one that cannot be read now has not changed for all we know
    const known = hash === '' ? before?.proofs[proof.id] : undefined
    proofs[proof.id] = known ?? { type: proof.type, verified: countsAsVerified(proof), hash }
  }
  const sessions: Record<string, number> = {}
  for (const { id, trail } of folder.sessions) sessions[id] ??= nextTrailNumber(trail) - 1
  const notes: Record<string, NoteFacts> = {}
  for (const [name, { hash }] of entry.notes) {
    const known = before?.notes[name]
    if (hash !== '') notes[name] = { hash }
    else if (known) notes[name] = known
  }
  return {
    state: readable ? shownState(folder) : (before?.state ?? null),
    fields: readable ? fieldsHash(folder) : (before?.fields ?? ''),
    proofs,
    sessions,
    notes,
    problems: folder.problems,
    causes: nextCauses(folder, before?.causes ?? {}),
  }
}

const hashes = new WeakMap<Case, string>()

function fieldsHash({ case: value }: CaseFolder): string {
  const known = hashes.get(value)
  if (known !== undefined) return known
  const { id: _, state: __, created_at: ___, ...fields } = value
  // empty fields are left out, so that a field of a later version is no change
  const set = Object.entries(fields).filter(([, field]) => field !== null && field.length > 0)
  const hash = hashOf('sha256', JSON.stringify(set)).slice(0, 16)
  hashes.set(value, hash)
  return hash
}
