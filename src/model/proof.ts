/** What `proof/<id>.md` says, without its content, which may be large and is read when asked for. */
export interface Proof {
  id: string
  case_id: string
  session_id: string | null
  type: string
  created_at: string
  sha256: string | null
  verified: boolean
  verified_at: string | null
  /** False when the content no longer has the sha256 that the file states. */
  intact: boolean
}

/** A verified proof whose content was changed afterwards proves nothing (design §2). */
export function countsAsVerified(proof: Proof): boolean {
  return proof.verified && proof.intact
}

/** Newest last, by creation and then id: the order in which "the newest" is decided everywhere. */
export function byCreation(
  a: { created_at: string; id: string },
  b: { created_at: string; id: string },
): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
