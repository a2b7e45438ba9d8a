/** How long the client waits for an agent, in milliseconds. */
export interface TimeLimits {
  initialize: number
  /** For a new or resumed session. */
  session: number
  /** For the answer to a change of mode, and then for a report of the new mode. */
  mode: number
  modeReport: number
  /** For the end of its turn after a cancel. */
  cancel: number
  /** For its exit after its input is closed. codex-acp takes a little more than 2 s. */
  exit: number
  /** Between SIGTERM and SIGKILL. */
  terminate: number
}

export const TIME_LIMITS: TimeLimits = {
  initialize: 30_000,
  session: 60_000,
  mode: 30_000,
  modeReport: 5_000,
  cancel: 5_000,
  exit: 4_000,
  terminate: 2_000,
}
