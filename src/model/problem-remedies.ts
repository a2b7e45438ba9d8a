import type { ProblemCode } from './problem.ts'

/** What to do about a problem: one sentence for each code. docs/problems.md explains them. */
const REMEDIES: Record<ProblemCode, string> = {
  unreadable:
    'Save the file with its text, or restore it from git; look at its kind and permissions if it has one.',
  missing: 'Write a case.md (a title is enough), restore it from git, or delete the folder.',
  symbolic_link: 'Replace the link with the file or folder.',
  too_large: 'Move long texts into a memory file of the case.',
  bad_encoding: 'Save the file as UTF-8.',
  merge_conflict:
    "Choose which lines stay, remove git's marker lines, save, then git add the file.",
  bad_frontmatter:
    'Put --- on a separate line above and below the fields, at the very top; a value with a colon or a # needs quotes.',
  duplicate_key: 'Remove one of the two lines.',
  wrong_type: 'Write the value as the message says.',
  unknown_state: 'Write one of the states that the message names.',
  id_mismatch:
    'Change the field to match the place of the file, or remove it; put a sealed session back where it came from.',
  duplicate_id: 'Give the copy the id of its folder, or delete it.',
  too_complex: 'Simplify deeply nested lists or quotes.',
  bad_checklist: 'Write the line as the message says: - [ ] <what> (<type>, required).',
  proof_gate:
    'Attach and verify the proof that is missing, accept one with a reason, or change the state back.',
  proof_changed: 'Restore the content, or verify the proof as it is now.',
  outside_fence:
    'Move the text into the fence and verify the proof again, or move it into a memory file.',
  invalid_plan: 'Edit the plan; the message has its line.',
  trail_changed:
    'Nothing: the service restores the lines; without a running service, casefile check --fix does.',
  state_by_hand: 'Change the state back to what the audit trail says; states change by request.',
  missing_state: 'Write the state, such as state: plan_ready for a plan that waits for approval.',
  field_by_hand: 'Change the field back to what the audit trail says, or remove its line.',
  session_changed: 'Restore the file from git.',
  foreign_session: 'Leave it to the machine that it runs on, or abandon it.',
  case_vanished: 'Look at git status: a switch of branches took the files of a running session.',
  session_missing:
    'Restore the file; or, if you deleted it on purpose, start another session or change the state of the case.',
  changed_during_run:
    'Look at the change, then confirm it by the request that the message names, or undo it.',
  conflict_copy: 'Copy what you need into the original file, then delete the copy.',
  wrong_latest: 'Run casefile check --fix; a running service sets the link within a second.',
  bad_settings: 'Correct the setting as the message says, or remove its line.',
  untrusted_settings: 'Look at what it asks for, then run casefile trust; or remove it.',
  untrusted_agent_files: 'Look at it, then run casefile trust; or remove it.',
  state_damaged:
    'Restart the service: it sets the file aside and reads the cases again from their files.',
  state_reset: 'Register the webhooks again. The problem goes with the next start.',
  bad_name: 'Rename or move it as the message says: a case is named by a lower-case UUID.',
}

export function remedyOf(code: ProblemCode): string {
  return REMEDIES[code]
}
