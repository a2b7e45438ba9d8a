import { RunnerFailure } from '../contract.ts'
import type { AgentConnection } from './connection.ts'

/** Sends a request that needs no model, so it has its own time limit, in milliseconds. */
export async function requestWithTimeout(
  ms: number,
  {
    connection,
    title,
    signal,
  }: { connection: AgentConnection; title: string; signal: AbortSignal },
  method: string,
  params: object,
): Promise<unknown> {
  const limit = AbortSignal.timeout(ms)
  try {
    return await connection.ask(method, params, AbortSignal.any([signal, limit]))
  } catch (error) {
    if (error !== limit.reason) throw error
    throw new RunnerFailure(`${title} did not answer ${method} within ${ms / 1000} s`)
  }
}
