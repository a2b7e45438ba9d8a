import { inspect } from 'node:util'
import { diskError } from '../files/storage-error.ts'
import { AppError, type ErrorCode } from '../model/app-error.ts'
import { jsonBody } from './json-body.ts'

/** The HTTP status and title of every error code. */
export const ERRORS = {
  bad_request: { status: 400, title: 'Invalid request' },
  invalid_json: { status: 400, title: 'Invalid JSON' },
  invalid_filename: { status: 400, title: 'File name not allowed' },
  unknown_state: { status: 400, title: 'Unknown state' },
  unknown_provider: { status: 400, title: 'Unknown provider' },
  forbidden: { status: 403, title: 'Forbidden' },
  own_session: { status: 403, title: 'Not allowed for a session' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  already_exists: { status: 409, title: 'Already exists' },
  already_active: { status: 409, title: 'Already active' },
  plan_changed: { status: 409, title: 'The plan has changed' },
  folder_busy: { status: 409, title: 'Folder in use' },
  session_running: { status: 409, title: 'A session is running' },
  unreadable_file: { status: 409, title: 'Unreadable file' },
  changed_meanwhile: { status: 409, title: 'Modified concurrently' },
  git_busy: { status: 409, title: 'git is busy' },
  precondition_failed: { status: 412, title: 'Precondition failed' },
  too_large: { status: 413, title: 'Too large' },
  range_not_satisfiable: { status: 416, title: 'Range not satisfiable' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  proof_gate: { status: 422, title: 'Proof requirements not met' },
  session_ended: { status: 422, title: 'Session has ended' },
  wrong_state: { status: 422, title: 'Invalid state' },
  invalid_plan: { status: 422, title: 'Invalid plan' },
  untrusted_provider: { status: 422, title: 'Provider not trusted' },
  untrusted_workdir: { status: 422, title: 'Working folder not trusted' },
  untrusted_agent_files: { status: 422, title: 'Agent files not trusted' },
  provider_unavailable: { status: 422, title: 'Provider unavailable' },
  would_be_a_problem: { status: 422, title: 'Invalid file content' },
  internal: { status: 500, title: 'Internal error' },
  storage_failed: { status: 500, title: 'Storage failure' },
  provider_failed: { status: 502, title: 'Provider failed' },
  stopping: { status: 503, title: 'Service is stopping' },
  storage_full: { status: 507, title: 'Storage full' },
} as const satisfies Record<ErrorCode, { status: number; title: string }>

const UNEXPECTED =
  'An unexpected error occurred in the service. The cause is in its log (standard error). ' +
  'Look there, and report it if it happens again.'

/** The members of RFC 9457, and those of ours. */
export interface ProblemJson extends Record<string, unknown> {
  status: number
  code: ErrorCode
}

/**
 * The problem details (RFC 9457) of an error. The message of an error that is no `AppError` is left out, because it may
 * contain paths or file content; the caller must have logged it.
 */
export function problemJson(error: unknown): ProblemJson {
  const known =
    error instanceof AppError ? error : (diskError(error) ?? new AppError('internal', UNEXPECTED))
  const { status, title } = ERRORS[known.code]
  const standard = {
    type: `urn:casefile:${known.code}`,
    title,
    status,
    detail: known.message,
    code: known.code,
    ...(status === 400 || known.errors.length > 0 ? { errors: known.errors } : {}),
  }
  // spread twice: first for the order, then so that `extra` overrides none of them
  return { ...standard, ...known.extra, ...standard }
}

/** The response to an error. The caller has logged it if necessary. */
export function problemResponse(error: unknown): Response {
  const problem = problemJson(error)
  return new Response(jsonBody(problem), {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      // the origin check sets this too, but not on responses before it runs
      'x-content-type-options': 'nosniff',
    },
  })
}

const ACCEPTED_BY_METHOD: Readonly<Record<string, string>> = {
  POST: 'accept-post',
  PATCH: 'accept-patch',
}

/** The headers that say what to send instead of an unsupported media type (RFC 9110 §15.5.16). */
export function acceptedInstead(error: unknown, method: string): [name: string, value: string][] {
  if (!(error instanceof AppError)) return []
  const { accept, accept_encoding } = error.extra
  const headers: [string, string][] = []
  if (typeof accept === 'string') {
    headers.push(['accept', accept])
    const byMethod = ACCEPTED_BY_METHOD[method]
    if (byMethod) headers.push([byMethod, accept])
  }
  if (typeof accept_encoding === 'string') headers.push(['accept-encoding', accept_encoding])
  return headers
}

const NO_FAULT: readonly ErrorCode[] = ['stopping', 'provider_failed']

/** Logs an error that is not the client's fault: a storage failure with its message, a bug with its stack. */
export function logFault(
  log: (line: string) => void,
  { method, path }: { method: string; path: string },
  error: unknown,
): void {
  const isAppError = error instanceof AppError
  if (isAppError && (ERRORS[error.code].status < 500 || NO_FAULT.includes(error.code))) return
  const isOfDisk = isAppError && error.code.startsWith('storage_')
  log(`${method} ${path}: ${isOfDisk ? error.message : inspect(error)}`)
}
