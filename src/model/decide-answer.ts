import { AppError } from './app-error.ts'
import { type CaseFolder, type Edit, gateOf, shownState } from './case-folder.ts'
import type { CaseState } from './case-state.ts'
import { stateChange } from './history.ts'
import { stateActs } from './history-acts.ts'

/**
 * Answers the question of a case that is NEEDS_USER_INPUT, and takes it back to the state where it was
 * before. The question, which is the reason of that state, stays in the history. Needs `folder.history`.
 */
export function answerQuestion(folder: CaseFolder, text: string): Edit[] {
  const present = shownState(folder)
  if (present !== 'NEEDS_USER_INPUT') {
    throw new AppError(
      'wrong_state',
      `The case is ${present}, so there is no question to answer: only a case in NEEDS_USER_INPUT has one.`,
    )
  }
  const state = stateBefore(folder)
  const question = (folder.case.reason ?? '').replace(/\s+/g, ' ').trim()
  const answered = { what: question === '' ? 'answered' : `answered "${short(question)}"`, text }
  return [
    {
      file: 'case',
      edit: { fields: { state, reason: null } },
      acts: [answered, ...stateActs(present, state)],
    },
  ]
}

/** The history line that asked the question has all of it. */
function short(question: string): string {
  return question.length <= 300 ? question : `${question.slice(0, 299).toWellFormed()}…`
}

/** Where the case was before the question; where the history does not say, as far as its sessions are. */
function stateBefore(folder: CaseFolder): CaseState {
  const asked = folder.history?.findLast(({ kind }) => kind === 'question')
  const state = (asked && stateChange(asked.what)?.from) ?? stateOfSessions(folder)
  return state === 'RESOLVED' && !gateOf(folder).open ? 'VERIFYING' : state
}

function stateOfSessions({ sessions }: CaseFolder): CaseState {
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
