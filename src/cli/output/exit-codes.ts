import { AppError } from '../../model/app-error.ts'

/** The exit codes of all commands except `check`, see `CHECK_EXIT`. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unknown: 3,
  gateShut: 4,
  sessionFailed: 5,
  notApproved: 6,
  /** The code of Node for a module that awaits forever. */
  unfinished: 13,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'done',
  1: 'failed; the message says why, and what to do next',
  2: 'wrong usage, such as an unknown or missing option',
  3: 'no such case, session or proof, or the name matches several',
  4: 'proof requirements are not met',
  5: 'the session failed or was abandoned',
  6: 'not approved, or not any more',
  13: 'ended before its work was done: a bug; please report it',
  130: 'interrupted by Ctrl-C (143: by SIGTERM, 129: the terminal was closed)',
}

const exits = new WeakMap<AppError, ExitCode>()

/** Sets the exit code of a command that throws this error. */
export function exiting(code: ExitCode, error: AppError): AppError {
  exits.set(error, code)
  return error
}

export function exitCodeOf(error: AppError): ExitCode {
  const chosen = exits.get(error)
  if (chosen !== undefined) return chosen
  if (error.code === 'proof_gate') return EXIT.gateShut
  return error.code === 'not_found' ? EXIT.unknown : EXIT.failed
}

/** An error for wrong arguments or options. */
export function usageError(message: string): AppError {
  return exiting(EXIT.usage, new AppError('bad_request', message))
}
