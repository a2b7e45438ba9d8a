import { AppError } from '../../model/app-error.ts'

/** What the exit codes of all commands mean. `check` alone has its own, see `CHECK_EXIT`. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unknown: 3,
  gateShut: 4,
  sessionFailed: 5,
  notApproved: 6,
  /** As Node has it for a module that awaits forever. */
  unfinished: 13,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** For the docs. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'done',
  1: 'failed; the message says why, and what to do next',
  2: 'wrong usage: an unknown option, or one is missing',
  3: 'no such case, session or proof, or the name fits several',
  4: 'proof requirements are not met',
  5: 'the session failed or was abandoned',
  6: 'not approved: the answer was no',
  13: 'ended before its work was done, which is a bug; please report it',
  130: 'interrupted by Ctrl-C (143: by SIGTERM, 129: the terminal was closed)',
}

const exits = new WeakMap<AppError, ExitCode>()

/** Gives an error the exit code of a command that throws it. */
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

/** For a command with wrong arguments or options. */
export function usageError(message: string): AppError {
  return exiting(EXIT.usage, new AppError('bad_request', message))
}
