import { RunnerFailure } from '../contract.ts'
import type { Link } from './link.ts'

/** Sends a request that needs no model, so it has its own time limit, in milliseconds. */
export async function askWithin(
  ms: number,
  { link, title, signal }: { link: Link; title: string; signal: AbortSignal },
  method: string,
  params: object,
): Promise<unknown> {
  const limit = AbortSignal.timeout(ms)
  try {
    return await link.ask(method, params, AbortSignal.any([signal, limit]))
  } catch (error) {
    if (error !== limit.reason) throw error
    throw new RunnerFailure(`${title} did not answer ${method} within ${ms / 1000} s`)
  }
}
