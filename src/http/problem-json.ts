import { inspect } from 'node:util'
import type { ErrorHandler } from 'hono'
import { diskRefusal } from '../files/storage-refusal.ts'
import { Refusal, type RefusalCode } from '../model/refusal.ts'
import type { ServiceEnv } from './context.ts'
import { jsonBody } from './json-body.ts'

/** The one place where a refusal gets its HTTP status. */
export const PROBLEMS = {
  bad_request: { status: 400, title: 'The request is not valid' },
  invalid_json: { status: 400, title: 'The body is not a JSON object' },
  invalid_filename: { status: 400, title: 'The file name is not allowed' },
  unknown_state: { status: 400, title: 'There is no such state' },
  unknown_provider: { status: 400, title: 'There is no such provider' },
  forbidden: { status: 403, title: 'The request is not allowed' },
  own_session: { status: 403, title: 'A session may not do this for itself' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The path does not answer this method' },
  already_exists: { status: 409, title: 'It exists already' },
  already_active: { status: 409, title: 'It is active already' },
  plan_changed: { status: 409, title: 'The plan has changed' },
  folder_busy: { status: 409, title: 'The folder is in use' },
  session_running: { status: 409, title: 'A session is running' },
  unreadable_file: { status: 409, title: 'The file cannot be read' },
  changed_meanwhile: { status: 409, title: 'It changed in the meantime' },
  git_busy: { status: 409, title: 'git is at work in the workspace' },
  precondition_failed: { status: 412, title: 'The precondition does not hold' },
  too_large: { status: 413, title: 'It is too large' },
  range_not_satisfiable: { status: 416, title: 'The range is not there' },
  unsupported_media_type: { status: 415, title: 'The content type is not accepted' },
  proof_gate: { status: 422, title: 'The proof gate is closed' },
  session_ended: { status: 422, title: 'The session has ended' },
  wrong_state: { status: 422, title: 'Not possible in the present state' },
  invalid_plan: { status: 422, title: 'The plan cannot be carried out' },
  untrusted_provider: { status: 422, title: 'The provider is not trusted' },
  untrusted_workdir: { status: 422, title: 'The working folder is not trusted' },
  untrusted_agent_files: { status: 422, title: 'Files that the agent acts on are not trusted' },
  provider_unavailable: { status: 422, title: 'The provider cannot be run' },
  would_be_a_problem: { status: 422, title: 'The file would have a problem' },
  internal: { status: 500, title: 'The service failed' },
  storage_failed: { status: 500, title: 'The storage failed' },
  provider_failed: { status: 502, title: 'The provider came to no result' },
  stopping: { status: 503, title: 'The service is stopping' },
  storage_full: { status: 507, title: 'The storage is full' },
} as const satisfies Record<RefusalCode, { status: number; title: string }>

const UNEXPECTED =
  'Something inside the service went wrong that it did not expect. The cause is in its log ' +
  '(standard error). Look there, and report it if it happens again.'

/** The members of RFC 9457, and those of ours. */
export interface ProblemJson extends Record<string, unknown> {
  status: number
  code: RefusalCode
}

/**
 * What RFC 9457 says of an error. Of one that is no `Refusal` nothing is told, but that the disk failed, since
 * its text may hold paths or file content: whoever calls this must have logged it.
 */
export function problemJson(error: unknown): ProblemJson {
  const refusal =
    error instanceof Refusal ? error : (diskRefusal(error) ?? new Refusal('internal', UNEXPECTED))
  const { status, title } = PROBLEMS[refusal.code]
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

/** For `app.onError`: answers every error, and logs those that no client is to blame for. */
export function problemHandler(log: (line: string) => void): ErrorHandler<ServiceEnv> {
  return (error, c) => {
    logFault(log, c.req, error)
    const response = problemResponse(error)
    if (error instanceof Refusal) sayAccepted(response, error, c.req.method)
    return response
  }
}

const ACCEPTED_BY_METHOD: Readonly<Record<string, string>> = {
  POST: 'accept-post',
  PATCH: 'accept-patch',
}

/** What to send instead of an unsupported media type, in the headers that RFC 9110 §15.5.16 and others give it. */
function sayAccepted(response: Response, { extra }: Refusal, method: string): void {
  const { accept, accept_encoding } = extra
  if (typeof accept === 'string') {
    response.headers.set('accept', accept)
    const byMethod = ACCEPTED_BY_METHOD[method]
    if (byMethod) response.headers.set(byMethod, accept)
  }
  if (typeof accept_encoding === 'string') response.headers.set('accept-encoding', accept_encoding)
}

const NO_FAULT: readonly RefusalCode[] = ['stopping', 'provider_failed']

/** Logs an error that no client is to blame for: a disk that fails in its words, what is a mistake of ours with its stack. */
export function logFault(
  log: (line: string) => void,
  { method, path }: { method: string; path: string },
  error: unknown,
): void {
  const isRefusal = error instanceof Refusal
  if (isRefusal && (PROBLEMS[error.code].status < 500 || NO_FAULT.includes(error.code))) return
  const isOfDisk = isRefusal && error.code.startsWith('storage_')
  log(`${method} ${path}: ${isOfDisk ? error.message : inspect(error)}`)
}
