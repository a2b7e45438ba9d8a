/**
 * What can be wrong with a file that a person, git or another program wrote. A problem is reported, never thrown. The
 * list of codes is closed; docs/problems.md explains each.
 */
export const PROBLEM_CODES = [
  'unreadable', // not a plain file, no permission, or the disk failed
  'missing', // a case folder without a case.md
  'symbolic_link',
  'too_large',
  'bad_encoding', // not UTF-8
  'merge_conflict', // git conflict markers
  'bad_frontmatter', // YAML that does not parse or is not allowed (alias, tag, directive, __proto__)
  'duplicate_key',
  'wrong_type',
  'cut_value', // a text that YAML cuts at ` #`
  'unknown_state',
  'id_mismatch', // a field contradicts the folder or file name
  'duplicate_id', // the id of another case, or of another session
  'too_complex', // the markdown parser needed more than 2 s
  'bad_checklist', // an item that says "required" in an unreadable form
  'bad_comment', // an item below `## Review` that is almost a comment
  'proof_gate', // RESOLVED in the file while the gate is shut
  'proof_changed', // the content, or the picture, no longer has its sha256
  'outside_fence', // text in a proof file outside its content
  'invalid_plan',
  'trail_changed',
  'state_by_hand',
  'missing_state', // a session file written by a person without a state
  'field_by_hand', // id, type, provider or start of a session, differs from its audit trail
  'session_changed', // sealed bytes or evidence differ from their hash
  'foreign_session', // running, but not on this machine
  'case_vanished',
  'changed_during_run', // by file, while a session executed: it does not count
  'conflict_copy', // another version of a file: of the service, a sync program or a file manager
  'wrong_latest', // the link to the newest session; only `casefile doctor --check` reports it
  'bad_settings', // casefile.md
  'untrusted_settings', // settings of casefile.md that need the operator's trust
  'untrusted_agent_files', // agent files that need the operator's trust
  'not_writable', // the disk rejects writes to the state folder or the memory root
  'state_damaged', // casefile.db of the state folder was damaged while the service used it
  'state_reset', // casefile.db of the state folder could not be used and was recreated
  'bad_name', // a folder under cases/ that is no UUID, or a markdown file with an unsupported name
] as const

export type ProblemCode = (typeof PROBLEM_CODES)[number]

export interface Problem {
  code: ProblemCode
  /** Relative to the case folder, or to the workspace if no case is concerned; with forward slashes. */
  file: string
  /** 1-based; null for the whole file. */
  line: number | null
  message: string
}

/** Problems that make the values of a file untrustworthy. Such a file is not written either. */
const BREAKING: ReadonlySet<ProblemCode> = new Set([
  'unreadable',
  'symbolic_link',
  'too_large',
  'bad_encoding',
  'merge_conflict',
  'bad_frontmatter',
  'duplicate_key',
  'wrong_type',
  'unknown_state',
  'id_mismatch',
  'duplicate_id',
  'too_complex',
])

export function isBreaking(problem: Problem): boolean {
  return BREAKING.has(problem.code)
}
