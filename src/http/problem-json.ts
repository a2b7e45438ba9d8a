import { inspect } from 'node:util'
import { diskError } from '../files/storage-error.ts'
import { AppError, type ErrorCode } from '../model/app-error.ts'
import { jsonBody } from './json-body.ts'

/** The one place where a refusal gets its HTTP status. */
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
  'Something inside the service went wrong that it did not expect. The cause is in its log ' +
  '(standard error). Look there, and report it if it happens again.'

/** The members of RFC 9457, and those of ours. */
export interface ProblemJson extends Record<string, unknown> {
  status: number
  code: ErrorCode
}

/**
 * What RFC 9457 says of an error. Of one that is no `AppError` nothing is told, but that the disk failed, since
 * its text may hold paths or file content: whoever calls this must have logged it.
 */
export function problemJson(error: unknown): ProblemJson {
  const refusal =
    error instanceof AppError ? error : (diskError(error) ?? new AppError('internal', UNEXPECTED))
  const { status, title } = ERRORS[refusal.code]
  const standard = {
    type: `urn:casefile:${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    code: refusal.code,
    ...(status === 400 || refusal.errors.length > 0 ? { errors: refusal.errors } : {}),
  }
  // Named twice: the first keeps the standard members in front, the second lets none be overwritten.
  return { ...standard, ...refusal.extra, ...standard }
}

/** The answer to an error, which has been logged where that is due. */
export function problemResponse(error: unknown): Response {
  const problem = problemJson(error)
  return new Response(jsonBody(problem), {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      // The guard sets this too, but not on the answers given before it runs.
      'x-content-type-options': 'nosniff',
    },
  })
}

const ACCEPTED_BY_METHOD: Readonly<Record<string, string>> = {
  POST: 'accept-post',
  PATCH: 'accept-patch',
}

/** What to send instead of an unsupported media type, in the headers that RFC 9110 §15.5.16 and others give it. */
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

/** Logs an error that no client is to blame for: a disk that fails in its words, what is a mistake of ours with its stack. */
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
