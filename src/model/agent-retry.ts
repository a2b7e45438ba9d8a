/** An agent's request to its model failed, and the agent retries it. */
export interface AgentRetry {
  /** HTTP status of the model's answer, if there was one. */
  status?: number | undefined
  /** Number of this attempt. */
  attempt?: number | undefined
  /** Number of attempts before the agent gives up. */
  of?: number | undefined
  /** The agent's message. */
  reason?: string | undefined
}

/** Describes a retry in a sentence without full stop. The fields may come from a file and have any type. */
export function retryText({
  status,
  attempt,
  of,
  reason,
}: Readonly<Record<string, unknown>>): string {
  const what = typeof status === 'number' ? `the model answered ${status}` : NO_ANSWER
  const why = typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''
  const total = typeof of === 'number' ? ` of ${of}` : ''
  const which = typeof attempt === 'number' ? `attempt ${attempt}${total}` : 'trying again'
  return `${what}${why}, ${which}`
}

const NO_ANSWER = 'the model did not answer correctly'
