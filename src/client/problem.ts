import { AppError, ERROR_CODES, type ErrorCode } from '../model/app-error.ts'

const STANDARD = ['type', 'title', 'status', 'detail', 'code', 'errors', 'instance']

/** The service’s error, restored from its response. */
export function errorFrom(method: string, path: string, status: number, body: unknown): AppError {
  const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const { detail, code, errors } = problem
  if (typeof detail !== 'string') {
    return new AppError(
      'internal',
      `${method} ${path} answered ${status} without a reason. Check that a casefile service is running there.`,
    )
  }
  const extra = Object.entries(problem).filter(([key]) => !STANDARD.includes(key))
  return new AppError(isCode(code) ? code : 'internal', detail, {
    errors: Array.isArray(errors) ? errors : [],
    extra: Object.fromEntries(extra),
  })
}

function isCode(code: unknown): code is ErrorCode {
  return (ERROR_CODES as readonly unknown[]).includes(code)
}
