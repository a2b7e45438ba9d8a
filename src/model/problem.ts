/**
 * What can be wrong with a file that a person, git or another program left behind. A problem is a
 * value with a code and a place, never a crash; the list is closed and explained in docs/problems.md.
 */
export const PROBLEM_CODES = [
  'unreadable', // not a plain file, no permission, or the disk failed
  'missing', // a case folder without a case.md
  'symbolic_link',
  'too_large',
  'bad_encoding', // not UTF-8
  'merge_conflict', // git conflict markers
  'bad_frontmatter', // YAML that does not parse, or that is refused (alias, tag, directive, __proto__)
  'duplicate_key',
  'wrong_type',
  'unknown_state',
  'id_mismatch', // a field contradicts the folder or file name
  'duplicate_id', // it names another case, or another session of the case
  'too_complex', // the markdown parser needed more than 2 s
  'bad_checklist', // an item that says "required", but not in a form that can be read
  'proof_gate', // RESOLVED in the file while the gate is shut
  'proof_changed', // the content no longer has its sha256
  'outside_fence', // of a proof: text that is no part of it
  'invalid_plan',
  'trail_changed',
  'state_by_hand',
  'missing_state', // a session written by hand that does not say its state
  'field_by_hand', // id, type, provider or start of a session, against its trail
  'session_changed', // sealed bytes or evidence differ from their hash
  'foreign_session', // live, but no run of this machine
  'case_vanished',
  'session_missing', // its file was deleted by hand
  'changed_during_run', // by file, while a session executed: it does not count
  'conflict_copy', // a person's save that met a write of the service, kept beside the file
  'wrong_latest', // the link to the newest session; only `casefile check` reports it
  'bad_settings', // casefile.md
  'untrusted_settings', // what casefile.md asks for counts only once the operator trusts it
  'untrusted_agent_files', // an agent would act on them: they count only once the operator trusts them
  'state_damaged', // casefile.db of the state folder was damaged while the service used it
  'state_reset', // casefile.db of the state folder could not be used and was made again
  'bad_name', // a folder under cases/ that is no UUID, or a markdown file whose name is not served
] as const

export type ProblemCode = (typeof PROBLEM_CODES)[number]

export interface Problem {
  code: ProblemCode
  /** Relative to the case's folder, with forward slashes; to the workspace where no case is concerned. */
  file: string
  /** 1-based; null when the whole file is meant. */
  line: number | null
  message: string
}

/** Problems after which the values of a file must not be believed, nor written over. */
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
