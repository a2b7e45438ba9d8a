import { inspect } from 'node:util'
import { diskError } from '../files/storage-error.ts'
import { AppError, type ErrorCode } from '../model/app-error.ts'
import { ERRORS, UNEXPECTED } from './errors.ts'
import { jsonBody } from './json-body.ts'
import { PROTECTIVE_HEADERS } from './protective-headers.ts'

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
      // the origin check sets these too, but not on responses before it runs
      ...PROTECTIVE_HEADERS,
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
