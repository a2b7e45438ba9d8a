import { REFUSAL_CODES, Refusal, type RefusalCode } from '../model/refusal.ts'

const STANDARD = ['type', 'title', 'status', 'detail', 'code', 'errors', 'instance']

/** The refusal that an answer of the service holds, as it was before it went over the wire. */
export function refusalOf(method: string, path: string, status: number, body: unknown): Refusal {
  const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const { detail, code, errors } = problem
  if (typeof detail !== 'string') {
    return new Refusal(
      'internal',
      `${method} ${path} answered ${status} without a reason. Is it a casefile service that answers there?`,
    )
  }
  const extra = Object.entries(problem).filter(([key]) => !STANDARD.includes(key))
  return new Refusal(isCode(code) ? code : 'internal', detail, {
    errors: Array.isArray(errors) ? errors : [],
    extra: Object.fromEntries(extra),
  })
}

function isCode(code: unknown): code is RefusalCode {
  return (REFUSAL_CODES as readonly unknown[]).includes(code)
}
