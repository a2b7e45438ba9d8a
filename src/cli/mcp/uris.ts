import { isMemoryName } from '../../model/memory-name.ts'
import { UUID } from '../../model/name-patterns.ts'

/** What the URI of a resource names. */
export type Resource =
  | { kind: 'cases' }
  | { kind: 'case'; case_id: string }
  | { kind: 'session'; case_id: string; session: string }
  | { kind: 'proof'; case_id: string; proof_id: string }
  | { kind: 'memory'; case_id: string; filename: string; offset: number }

export const CASES_URI = 'casefile://cases'
export const TEMPLATES = {
  case: `${CASES_URI}/{case_id}`,
  session: `${CASES_URI}/{case_id}/sessions/{session}`,
  proof: `${CASES_URI}/{case_id}/proof/{proof_id}`,
  memory: `${CASES_URI}/{case_id}/memory/{filename}{?offset}`,
}

const ADDRESS =
  /^casefile:\/\/cases(?:\/([^/?#]+)(?:\/(sessions|proof|memory)\/([^/?#]+))?)?(?:\?offset=(\d{1,9}))?$/
const SESSION = /^([1-9][0-9]{0,5}|latest)$/

/**
 * Returns null if it is not the URI of a resource. Nothing is normalized, so that no URI leads outside: each part must
 * be exactly an id, a number, or a percent-encoded file name.
 */
export function parseUri(uri: string): Resource | null {
  const [match, case_id, kind, rest = '', offset] = ADDRESS.exec(uri) ?? []
  if (match === undefined || (offset !== undefined && kind !== 'memory')) return null
  if (case_id === undefined) return { kind: 'cases' }
  if (!UUID.test(case_id)) return null
  if (kind === undefined) return { kind: 'case', case_id }
  if (kind === 'sessions') {
    return SESSION.test(rest) || UUID.test(rest)
      ? { kind: 'session', case_id, session: rest }
      : null
  }
  if (kind === 'proof') return UUID.test(rest) ? { kind: 'proof', case_id, proof_id: rest } : null
  const filename = decoded(rest)
  if (filename === null || !isMemoryName(filename)) return null
  return { kind: 'memory', case_id, filename, offset: Number(offset ?? 0) }
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

export const caseUri = (caseId: string): string => `${CASES_URI}/${caseId}`
export const sessionUri = (caseId: string, session: string | number): string =>
  `${caseUri(caseId)}/sessions/${session}`
export const proofUri = (caseId: string, proofId: string): string =>
  `${caseUri(caseId)}/proof/${proofId}`
export const memoryUri = (caseId: string, filename: string): string =>
  `${caseUri(caseId)}/memory/${encodeURIComponent(filename)}`
