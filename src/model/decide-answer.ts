import { AppError } from './app-error.ts'
import { type CaseContents, type Edit, gateOf, shownState } from './case-contents.ts'
import type { CaseState } from './case-state.ts'

/**
 * Answers the question of a case in NEEDS_USER_INPUT and returns the case to its earlier state. The question, which
 * is the reason of the state, stays in the history. Needs `folder.history`.
 */
export function answerQuestion(contents: CaseContents, text: string): Edit[] {
  const present = shownState(contents)
  if (present !== 'NEEDS_USER_INPUT') {
    throw new AppError(
      'wrong_state',
      `The case is ${present}, so there is no question to answer. Only a case in NEEDS_USER_INPUT has one.`,
    )
  }
  const state = stateBefore(contents)
  const answered = { act: { name: 'answered', from: present, to: state } as const, text }
  return [
    {
      file: 'case',
      edit: { fields: { state, reason: null } },
      acts: [answered],
    },
  ]
}

/** Returns the state before the question; if the history does not have it, the state that fits the sessions. */
function stateBefore(contents: CaseContents): CaseState {
  const asked = contents.history?.findLast(({ kind }) => kind === 'question')?.act
  const state = (asked?.name === 'state_changed' && asked.from) || stateOfSessions(contents)
  return state === 'RESOLVED' && !gateOf(contents).open ? 'VERIFYING' : state
}

function stateOfSessions({ sessions }: CaseContents): CaseState {
  const newest = sessions.at(-1)
  switch (newest?.state) {
    case undefined:
    case 'failed':
    case 'abandoned':
      return 'OPEN'
    case 'complete':
      return 'VERIFYING'
    case 'approved':
    case 'executing':
      return 'IMPLEMENTING'
    default:
      return newest?.type === 'investigating' ? 'INVESTIGATING' : 'PLANNING'
  }
}
