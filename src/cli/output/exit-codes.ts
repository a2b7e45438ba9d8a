import type { Refusal } from '../../model/refusal.ts'

/** What the exit codes of all commands mean. `check` alone has its own, see `CHECK_EXIT`. */
export const EXIT = {
  done: 0,
  refused: 1,
  usage: 2,
  unknown: 3,
  gateShut: 4,
  sessionFailed: 5,
  notApproved: 6,
  /** As Node says of a module that awaits what never comes. */
  unfinished: 13,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** For the docs. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'done',
  1: 'refused or failed; the message says why, and what to do next',
  2: 'the command was not understood: a wrong option, or one is missing',
  3: 'no such case, session or proof, or more than one that it could be',
  4: 'the proof gate is shut',
  5: 'the session failed or was abandoned',
  6: 'not approved: the answer was no',
  13: 'ended before its work was done, which is a bug; please report it',
  130: 'interrupted by Ctrl-C (143: by a TERM signal, 129: by the end of the terminal)',
}

const exits = new WeakMap<Refusal, ExitCode>()

/** The refusal, with which the command is to end with this exit code. */
export function exiting(code: ExitCode, refusal: Refusal): Refusal {
  exits.set(refusal, code)
  return refusal
}

export function exitCodeOf(refusal: Refusal): ExitCode {
  const chosen = exits.get(refusal)
  if (chosen !== undefined) return chosen
  if (refusal.code === 'proof_gate') return EXIT.gateShut
  return refusal.code === 'not_found' ? EXIT.unknown : EXIT.refused
}
