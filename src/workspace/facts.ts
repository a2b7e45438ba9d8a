/** The facts of a case that the publisher compares. */

import { hash as hashOf } from 'node:crypto'
import type { Case } from '../model/case.ts'
import type { CaseFacts, NoteFacts, ProofFacts } from '../model/case-facts.ts'
import { type CaseFolder, shownState } from '../model/case-folder.ts'
import { countsAsVerified } from '../model/proof.ts'
import { nextTrailNumber } from '../model/trail.ts'
import type { CaseEntry } from './case-entry.ts'
import { sessionFiles } from './deleted-sessions.ts'

/**
 * The facts of a case as its files are now. If case.md cannot be read, only its problem is new: state and fields
 * stay as they were published.
 */
export function factsOf(entry: CaseEntry, folder: CaseFolder, before: CaseFacts | null): CaseFacts {
  const { readable } = entry.file
  const proofs: Record<string, ProofFacts> = {}
  for (const proof of folder.proofs) {
    const { hash } = entry.proofs.get(proof.id)!
    proofs[proof.id] = { type: proof.type, verified: countsAsVerified(proof), hash }
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
    files: sessionFiles(entry),
    problems: folder.problems,
  }
}

const hashes = new WeakMap<Case, string>()

function fieldsHash({ case: value }: CaseFolder): string {
  const known = hashes.get(value)
  if (known !== undefined) return known
  const { id: _, state: __, created_at: ___, ...fields } = value
  // a field that a later version adds has no value in the cases there are, and is no change of them
  const set = Object.entries(fields).filter(([, field]) => field !== null && field.length > 0)
  const hash = hashOf('sha256', JSON.stringify(set)).slice(0, 16)
  hashes.set(value, hash)
  return hash
}
