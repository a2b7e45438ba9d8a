/**
 * Why a request failed. The list of codes is closed. `http/errors.ts` maps each to an HTTP status, so that no
 * other layer needs to know HTTP.
 */
export const ERROR_CODES = [
  'bad_request',
  'invalid_json',
  'invalid_filename',
  'unknown_state',
  'unknown_provider',
  'unsupported_media_type',
  'too_large',
  'forbidden',
  'own_session',
  'not_found',
  'method_not_allowed',
  'already_exists',
  'already_active',
  'plan_changed',
  'folder_busy',
  'too_many_sessions',
  'session_running',
  'unreadable_file',
  'changed_meanwhile',
  'git_busy',
  'precondition_failed',
  'range_not_satisfiable',
  'proof_gate',
  'session_ended',
  'wrong_state',
  'invalid_plan',
  'untrusted_provider',
  'untrusted_workdir',
  'untrusted_agent_files',
  'provider_unavailable',
  'isolation_impossible',
  'merge_conflict',
  'record_on_branch',
  'signature_required',
  'bad_signature',
  'would_be_a_problem',
  'storage_full',
  'storage_failed',
  'stopping',
  'provider_failed',
  'internal',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * One invalid field of a request: `path`, such as `steps[0].timeout`, and a message with the expected and the
 * received value.
 */
export interface FieldError {
  path: string
  message: string
}

export interface AppErrorOptions {
  /** One entry for each invalid field. */
  errors?: FieldError[]
  /** More members for the response, such as what the proof gate is missing. */
  extra?: Record<string, unknown>
  cause?: unknown
}

/** The error of every request that fails. `message` says what failed, why, and what to do next. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly errors: FieldError[]
  readonly extra: Record<string, unknown>

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.errors = options.errors ?? []
    this.extra = options.extra ?? {}
  }
}

/** The error of requests that arrive or are running while the service stops. */
export function stoppingError(): AppError {
  return new AppError('stopping', 'The service is stopping. Try again when it runs again.')
}

/** For `import()`. Node does not read a file again that it could not load. */
export function notLoaded(cause: unknown): never {
  throw new AppError(
    'internal',
    'A part of Casefile cannot be loaded; the log says why. If Casefile was updated while it ran, the part is gone. Restart the service.',
    { cause },
  )
}
