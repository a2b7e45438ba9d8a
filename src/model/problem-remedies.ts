import type { ProblemCode } from './problem.ts'

/** What to do about each problem. */
const REMEDIES: Record<ProblemCode, string> = {
  unreadable:
    'Save the file again or restore it from git. If it has content, check that it is a regular file and its permissions.',
  missing: 'Create a case.md (a title is enough), restore it from git, or delete the folder.',
  symbolic_link: 'Replace the link with the file or folder itself.',
  too_large: 'Move long texts to a memory file of the case.',
  bad_encoding: 'Save the file as UTF-8.',
  merge_conflict:
    "Resolve the conflict, remove git's marker lines, save, then run git add on the file.",
  bad_frontmatter:
    'Start the file with a line ---, and end the fields with another. Put quotes around values that contain a colon or #.',
  duplicate_key: 'Remove one of the two lines.',
  wrong_type: 'Change the value as described in the message.',
  cut_value: 'Put quotes around the whole value, or around the value before the comment.',
  unknown_state: 'Use one of the states listed in the message.',
  id_mismatch:
    'Remove the field, or change it to match the path of the file. Move a sealed session back to its original path.',
  duplicate_id: 'Set the id in the copy to the name of its folder, or delete the copy.',
  too_complex: 'Simplify deeply nested lists or quotes.',
  bad_checklist: 'Write the line as described in the message: - [ ] <what> (<type>, required).',
  bad_comment:
    'Correct the line as described in the message, or remove it. The service ignores it until then.',
  proof_gate: 'Attach and verify the missing proof, accept one with a reason, or revert the state.',
  proof_changed: 'Restore the content or the picture, or verify the proof again.',
  outside_fence:
    'Move the text into the fence and verify the proof again, or move it to a memory file.',
  invalid_plan: 'Fix the plan at the line given in the message.',
  trail_changed:
    'Nothing to do while the service runs: it restores the original lines. Otherwise run casefile doctor --fix.',
  state_by_hand:
    'Restore the state recorded in the audit trail. Change states through the API, the console or the CLI.',
  missing_state: 'Add the state, such as state: plan_ready for a plan that waits for approval.',
  field_by_hand: 'Restore the value recorded in the audit trail, or remove the line.',
  session_changed: 'Restore the file from git.',
  foreign_session: 'Continue it on the machine where it runs, or abandon it.',
  case_vanished: 'Check git status: switching branches removed the files of a running session.',
  changed_during_run:
    'Review it. Confirm it with the request in the message, or restore the earlier value.',
  conflict_copy: 'Copy what you need to the original file, then delete the conflict copy.',
  wrong_latest: 'Run casefile doctor --fix. A running service corrects the link within a second.',
  bad_settings: 'Correct the setting as described in the message, or remove its line.',
  untrusted_settings: 'Review the change, then run casefile doctor --trust, or undo it.',
  untrusted_agent_files: 'Review the file, then run casefile doctor --trust, or remove it.',
  not_writable: 'Free space, or check disk and permissions.',
  state_damaged: 'Restart the service: it sets a damaged file aside.',
  state_reset: 'Register the webhooks again. This problem disappears at the next start.',
  bad_name:
    'Rename or move it as described in the message. The folder of a case is named by a lower-case UUID.',
}

export function remedyOf(code: ProblemCode): string {
  return REMEDIES[code]
}
