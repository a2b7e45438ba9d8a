/** The model did not answer an agent, which asks again. */
export interface AgentRetry {
  /** The status of the model's answer, where there was one. */
  status?: number | undefined
  /** How often the agent has asked again by now. */
  attempt?: number | undefined
  /** How often it does so before it gives up. */
  of?: number | undefined
  /** The agent's own message. */
  reason?: string | undefined
}

/** A retry as a sentence without its full stop; the fields may come out of a file. */
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

const NO_ANSWER = 'the model did not answer as it should'
